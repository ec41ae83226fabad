namespace Kit.Runner.Results.Loads;

/// <summary>A figure that is followed through a load.</summary>
/// <param name="Title">With its unit.</param>
/// <param name="Trend">Absent if the load was too short for one, or a block has no sample.</param>
public sealed record SoakFigure(string Title, double First, double Highest, double Last, Trend? Trend)
{
    /// <summary>The title of the physical memory of the endpoint's processes.</summary>
    internal const string WorkingSet = "Working set MB";

    internal const string Threads = "Threads";

    internal const string Queued = "Queued messages";

    internal const string DeadRows = "Dead rows";

    private const double Megabyte = 1_000_000;

    /// <summary>The figures in a sample, for tables and pictures.</summary>
    internal static readonly IReadOnlyList<(string Title, Func<LoadSample, double?> Of)> Sampled =
    [
        (WorkingSet, sample => sample.WorkingSetBytes / Megabyte),
        ("GC heap MB", sample => sample.HeapBytes / Megabyte),
        (Threads, sample => sample.Threads),
        ("Connections", sample => sample.Connections),
        (Queued, sample => sample.Queued),
        (DeadRows, sample => sample.DeadRows),
        ("Queue and outbox tables MB", sample => sample.QueueBytes / Megabyte),
        ("Widgets MB", sample => sample.WidgetBytes / Megabyte),
        ("WAL files MB", sample => sample.WalBytes / Megabyte),
        ("Autovacuum runs", sample => sample.Autovacuums),
    ];

    /// <summary>The figures of one load: those with at least one value.</summary>
    /// <param name="samples">In the order of time.</param>
    /// <param name="history">The outcomes of the messages, for the rate and the latency between two samples.</param>
    public static IReadOnlyList<SoakFigure> Of(IReadOnlyList<LoadSample> samples, LoadHistory history, double seconds)
    {
        var spans = samples.Zip(samples.Skip(1), (before, after) => (From: before.Seconds, To: after.Seconds)).ToList();
        return
        [
            .. new[]
                {
                    Of("Rate msg/s", spans.Select(span => (span.To, history.RateBetween(span.From, span.To))), seconds),
                    Of("p50 ms", spans.Select(span => (span.To, history.LatencyBetween(span.From, span.To)?.P50)), seconds),
                }
                .Concat(Sampled.Select(figure => Of(figure.Title, samples.Select(sample => (sample.Seconds, figure.Of(sample))), seconds)))
                .OfType<SoakFigure>(),
        ];
    }

    private static SoakFigure? Of(string title, IEnumerable<(double At, double? Value)> values, double seconds)
    {
        IReadOnlyList<(double At, double Value)> known = [.. values.Where(one => one.Value is not null).Select(one => (one.At, one.Value!.Value))];
        return known.Count == 0
            ? null
            : new SoakFigure(title, known[0].Value, known.Max(one => one.Value), known[^1].Value, Trend.Of(known, seconds));
    }
}

/// <summary>A part of a load in which a snapshot was held, or was not.</summary>
/// <param name="From">In s from the load's start.</param>
/// <param name="To">In s from the load's start.</param>
/// <param name="Reached">Rows committed a second; <see langword="null"/> if the part has no length.</param>
/// <param name="Latency">Latency of the messages that were to be sent in it; <see langword="null"/> if none has a row.</param>
/// <param name="DeadRows">At its end; <see langword="null"/> if no sample has them.</param>
public sealed record LoadPart(string Title, double From, double To, double? Reached, Latency? Latency, long? DeadRows)
{
    /// <summary>The parts before, while and after a snapshot was held; those that the load had.</summary>
    /// <param name="from">In s.</param>
    /// <param name="to">In s.</param>
    /// <param name="samples">In the order of time.</param>
    public static IReadOnlyList<LoadPart> Of(double from, double to, IReadOnlyList<LoadSample> samples, LoadHistory history, double seconds) =>
    [
        .. new[] { ("before the snapshot", 0, from), ("while it was held", from, to), ("after it", to, seconds) }
            .Select(part => (Title: part.Item1, From: Math.Min(part.Item2, seconds), To: Math.Min(part.Item3, seconds)))
            .Where(part => part.To > part.From)
            .Select(part => new LoadPart(
                part.Title, part.From, part.To, history.RateBetween(part.From, part.To), history.LatencyBetween(part.From, part.To),
                samples.LastOrDefault(sample => sample.Seconds <= part.To)?.DeadRows)),
    ];
}
