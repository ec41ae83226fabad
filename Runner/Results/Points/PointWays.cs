namespace Kit.Runner.Results.Points;

/// <summary>The ways in which a point can be met. The proxy's part in each is in the request gate and its connections.</summary>
public static class PointWays
{
    /// <summary>Every way, in the order of the letters. A new one is an entry here.</summary>
    public static IReadOnlyList<PointWayFacts> All { get; } =
    [
        new(PointWay.NeverSent, 'a', "never sent, killed", IsExecuted: false, KillsProcess: true, CrashesServer: false)
        {
            Legend = "the request never reaches the server, and the process is killed",
            Happened = "never reached the server, and the process was killed",
            Moment = "the last request never reaches its server, and the process is killed",
            Rank = 1,
            IsPossibleAt = _ => true,
        },
        new(PointWay.Killed, 'b', "executed, killed", IsExecuted: true, KillsProcess: true, CrashesServer: false)
        {
            Legend = "the server has acted, its answer is withheld, and the process is killed",
            Happened = "was executed, its answer withheld, and the process killed",
            Moment = "the server has executed the last request, its answer is withheld, and the process is killed",
            Rank = 0,
            IsPossibleAt = point => point.CanBeProved,
        },
        new(PointWay.Cut, 'c', "executed, cut", IsExecuted: true, KillsProcess: false, CrashesServer: false)
        {
            Legend = "the server has acted, its answer is withheld, and the connection is cut",
            Happened = "was executed, its answer withheld, and the connection cut",
            Moment = "the server has executed the last request, its answer is withheld, and the connection is cut",
            Rank = 2,
            IsPossibleAt = point => point.CanBeProved,
        },
        new(PointWay.Unanswered, 'd', "never answered", IsExecuted: true, KillsProcess: false, CrashesServer: false)
        {
            Legend = "the server has acted, and its answer never comes",
            Happened = "was executed, and its answer never came",
            Moment = "the server has executed the last request, and its answer never comes",
            Rank = 4,
            IsPossibleAt = point => point.HasAnswer,
        },
        new(PointWay.ServerCrashedBefore, 'e', "never sent, server crashed", IsExecuted: false, KillsProcess: false, CrashesServer: true)
        {
            Legend = "the request never reaches the server",
            Happened = "never reached the server, which crashed",
            Moment = "the last request never reaches its server, which crashes and is started again",
            Rank = 5,
            IsPossibleAt = _ => true,
        },
        new(PointWay.ServerCrashedAfter, 'f', "executed, server crashed", IsExecuted: true, KillsProcess: false, CrashesServer: true)
        {
            Legend = "the server has acted, and its answer is withheld",
            Happened = "was executed, its answer withheld, and the server crashed",
            Moment = "the server has executed the last request, its answer is withheld, and the server crashes and is started again",
            Rank = 6,
            IsPossibleAt = point => point.CanBeProved,
        },
        new(PointWay.CutBefore, 'g', "never sent, cut", IsExecuted: false, KillsProcess: false, CrashesServer: false)
        {
            Legend = "the request never reaches the server, and the connection is cut",
            Happened = "never reached the server, and the connection was cut",
            Moment = "the last request never reaches its server, and the connection is cut",
            Rank = 3,
            IsPossibleAt = _ => true,
        },
    ];

    /// <summary>The ways in which the servers live.</summary>
    public static IReadOnlyList<PointWay> OfClient { get; } = [.. All.Where(facts => !facts.CrashesServer).Select(facts => facts.Way)];

    /// <summary>The letters of all ways.</summary>
    public static IReadOnlyList<string> Letters { get; } = [.. All.Select(facts => $"{facts.Letter}")];

    /// <summary>Some ways as a text: <c>a, b</c>.</summary>
    public static string ListOf(IEnumerable<PointWay> ways) => string.Join(", ", ways.Select(way => way.Facts().Letter));

    /// <summary>The facts of a way.</summary>
    /// <exception cref="ArgumentOutOfRangeException">It has none.</exception>
    public static PointWayFacts Facts(this PointWay way) =>
        All.FirstOrDefault(facts => facts.Way == way) ?? throw new ArgumentOutOfRangeException(nameof(way), way, "No such way.");

    /// <param name="letter">As typed.</param>
    /// <returns><see langword="null"/> if there is no such way.</returns>
    public static PointWay? Of(string letter) => All.FirstOrDefault(facts => $"{facts.Letter}" == letter)?.Way;
}

/// <summary>The facts of one way.</summary>
/// <param name="Letter">Name in tokens.</param>
/// <param name="Title">For tables, after the letter.</param>
/// <param name="IsExecuted">True if the request reaches the server, which acts on it.</param>
public sealed record PointWayFacts(PointWay Way, char Letter, string Title, bool IsExecuted, bool KillsProcess, bool CrashesServer)
{
    /// <summary>The head of its column.</summary>
    public string Header => $"{Letter}: {Title}";

    /// <summary>The event, in a legend that has said whether processes or servers are meant.</summary>
    public required string Legend { get; init; }

    /// <summary>The event in the past tense, after the name of the request.</summary>
    public required string Happened { get; init; }

    /// <summary>The event at the end of a list of requests.</summary>
    public required string Moment { get; init; }

    /// <summary>Its place when time is short: the lower, the more it finds in a second.</summary>
    public required int Rank { get; init; }

    /// <summary>
    /// True if it can happen at a point. Without an answer, none can be withheld for ever; without a proof, nothing is known after the request was sent.
    /// </summary>
    public required Func<CrashPoint, bool> IsPossibleAt { get; init; }
}
