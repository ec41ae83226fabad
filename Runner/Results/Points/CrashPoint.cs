using System.Text.Json.Serialization;

namespace Kit.Runner.Results.Points;

/// <summary>The identity of a request of a handling, by which it can be found in another handling.</summary>
/// <param name="Server">The server of the request: the queue, the data, …</param>
/// <param name="Text">The statement or the method, without the parts that differ from one handling to the next.</param>
/// <param name="Outcome">The server's answer; <see langword="null"/> if it does not answer.</param>
/// <param name="Sent">Number among the requests with this text, from 1. Polls are not counted.</param>
/// <param name="Answered">Number among the requests with this text and outcome, from 1. Polls are not counted.</param>
public sealed record RequestId(string Server, string Text, string? Outcome, int Sent, int Answered);

/// <summary>The gap before and after one request of a handling.</summary>
/// <param name="Number">In the recorded handling, from 1.</param>
/// <param name="Before">The statement before it in its transaction; <see langword="null"/> if it is the first.</param>
/// <param name="CanBeProved">True if it can be known that the server has acted.</param>
public sealed record CrashPoint(int Number, RequestId Request, string? Before, bool HasAnswer, bool CanBeProved)
{
    /// <summary>The numbers of the points before it in its transaction. With <see cref="Place"/> they say which transaction it is.</summary>
    public IReadOnlyList<int> Leading { get; init; } = [];

    /// <summary>Its place among all requests of its transaction, from 1. Some of them can be no points.</summary>
    public int Place { get; init; } = 1;

    /// <summary>The numbers of the points that came before it in one recorded handling, and after it in another.</summary>
    public IReadOnlyList<int> Unordered { get; init; } = [];

    /// <summary>True if a process without a message begins a transaction with the same requests and answers.</summary>
    public bool IsPolled { get; init; }

    /// <summary>The ways that are possible there while the servers live.</summary>
    public IReadOnlyList<PointWay> Ways => WaysAmong(PointWays.OfClient);

    /// <summary>The possible ways there, among some.</summary>
    public IReadOnlyList<PointWay> WaysAmong(IReadOnlyList<PointWay> asked) =>
        [.. PointWays.All.Where(facts => asked.Contains(facts.Way) && facts.IsPossibleAt(this)).Select(facts => facts.Way)];
}

/// <summary>The event at a point. The words and rules of each are in <see cref="PointWays"/>.</summary>
public enum PointWay
{
    /// <summary>(a) The request never reaches the server, and the process is killed.</summary>
    NeverSent,

    /// <summary>(b) The server has acted, its answer is withheld, and the process is killed.</summary>
    Killed,

    /// <summary>(c) The server has acted, its answer is withheld, the connection is cut, and the process lives.</summary>
    Cut,

    /// <summary>(d) The server has acted, and its answer never comes.</summary>
    Unanswered,

    /// <summary>(e) The request never reaches the server, which crashes and is started again. The process lives.</summary>
    ServerCrashedBefore,

    /// <summary>(f) The server has acted, its answer is withheld, and it crashes and is started again. The process lives.</summary>
    ServerCrashedAfter,

    /// <summary>(g) The request never reaches the server, the connection is cut, and the process lives.</summary>
    CutBefore,
}

/// <summary>The point that an experiment met, or was to meet.</summary>
/// <param name="Token">Name with which it can be repeated.</param>
/// <param name="Moment">In words.</param>
public sealed record PointFacts(string Token, int Number, PointWay Way, string Moment)
{
    /// <summary>
    /// True if the point was not met, and the process was killed at another moment, or ended by itself. Absent otherwise, and in the documents of earlier
    /// builds: there such an experiment counts as one that met its point.
    /// </summary>
    [JsonIgnore(Condition = JsonIgnoreCondition.WhenWritingDefault)]
    public bool IsElsewhere { get; init; }
}
