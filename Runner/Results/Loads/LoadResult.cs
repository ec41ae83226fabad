using System.Text.Json.Serialization;
using Kit.Guarantees;

namespace Kit.Runner.Results.Loads;

/// <summary>One cell under one rate.</summary>
public sealed record LoadResult
{
    /// <summary>The sender kept its schedule if 99 % of the sends began within this time of their moment, in ms.</summary>
    public const double LateSender = 20;

    /// <summary>A backlog grows if more than this share of the messages of the second half is added to it during that half.</summary>
    public const double GrowingBacklog = 0.02;

    public required CellName Cell { get; init; }

    /// <summary>Messages a second, as scheduled.</summary>
    public required double Rate { get; init; }

    public required RoundOutcome Outcome { get; init; }

    /// <summary>How long messages were sent, in s: shorter than planned if the load was stopped.</summary>
    public double Seconds { get; init; }

    /// <summary>Whether it was stopped before its time.</summary>
    public bool IsStopped { get; init; }

    /// <summary>Messages that the transport has confirmed to the sender.</summary>
    public int Sent { get; init; }

    /// <summary>Messages without a committed row at the end: in the error queue, lost, or still in the queue.</summary>
    public int Failed { get; init; }

    /// <summary>From the moment at which a message was to be sent until its row was committed; absent if no message has a row.</summary>
    [JsonIgnore(Condition = JsonIgnoreCondition.WhenWritingNull)]
    public Latency? Latency { get; init; }

    /// <summary>From the moment at which a message was to be sent until its send began.</summary>
    [JsonIgnore(Condition = JsonIgnoreCondition.WhenWritingNull)]
    public Latency? SenderLag { get; init; }

    /// <summary>Messages whose moment had come and whose row was not committed: in the middle of the schedule.</summary>
    public int BehindInTheMiddle { get; init; }

    /// <summary>The same at the end of the schedule.</summary>
    public int BehindAtTheEnd { get; init; }

    /// <summary>Messages in each class of outcomes.</summary>
    public IReadOnlyDictionary<DeliveryClass, int> Accounts { get; init; } = new Dictionary<DeliveryClass, int>();

    /// <summary>Whether the sender kept its schedule. If not, the sender limits the rate, and not the endpoint.</summary>
    [JsonIgnore]
    public bool IsSenderOnTime => SenderLag is { P99: <= LateSender };

    [JsonIgnore]
    public double FailedShare => Sent == 0 ? 0 : (double)Failed / Sent;

    /// <summary>Whether the backlog grew in the second half of the schedule.</summary>
    [JsonIgnore]
    public bool IsBacklogGrowing => BehindAtTheEnd - BehindInTheMiddle > Math.Max(GrowingBacklog * Rate * Seconds / 2, LeastGrowth);

    /// <summary>Why the rate was not sustained; empty if it was.</summary>
    /// <param name="limitMilliseconds">The highest p99 of the latency that counts as sustained; <see langword="null"/>: any.</param>
    public IReadOnlyList<string> ReasonsAgainst(double? limitMilliseconds) =>
    [
        .. IsStopped ? [$"stopped after {Figures.Measured(Seconds)} s"] : Array.Empty<string>(),
        .. Sent == 0 ? ["nothing was sent"] : IsSenderOnTime ? Array.Empty<string>() : ["the sender was late"],
        .. IsBacklogGrowing ? ["the backlog grew"] : Array.Empty<string>(),
        .. limitMilliseconds is { } limit && Latency is { } latency && latency.P99 > limit
            ? [$"p99 above {Figures.Measured(limit)} ms"]
            : Array.Empty<string>(),
        .. Outcome.IsValid() ? Array.Empty<string>() : [$"{Outcome}"],
    ];

    // A few messages more or less at two moments are no growth.
    private const int LeastGrowth = 20;
}

/// <summary>Quantiles of a time, in ms, over all messages.</summary>
public sealed record Latency(double P50, double P95, double P99, double P999, double Max)
{
    /// <summary>Exact quantiles: every value is kept.</summary>
    /// <param name="milliseconds">In any order.</param>
    /// <returns><see langword="null"/> for no value.</returns>
    public static Latency? Of(IEnumerable<double> milliseconds)
    {
        var sorted = milliseconds.Order().ToArray();
        return sorted.Length == 0 ? null : new Latency(At(0.5), At(0.95), At(0.99), At(0.999), At(1));

        // The nearest rank: a value that was measured.
        double At(double share) => Math.Round(sorted[Math.Clamp((int)Math.Ceiling(share * sorted.Length) - 1, 0, sorted.Length - 1)], 3);
    }
}
