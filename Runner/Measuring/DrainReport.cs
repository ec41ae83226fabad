using Kit.Runner.Results;

namespace Kit.Runner.Measuring;

/// <summary>Observations of a handler process between the endpoint's start and stop.</summary>
/// <param name="Entries">Number of times that a handler was entered.</param>
/// <param name="Handled">Number of times that a handler returned.</param>
/// <param name="CompletionsUtc">Time at which the handler of each message returned, if it was to be recorded.</param>
/// <param name="Promotions">Transactions that were promoted to a distributed one since the first entry.</param>
internal sealed record DrainReport(
    DateTimeOffset? FirstEntryUtc, int Entries, int Handled,
    IReadOnlyList<DateTimeOffset> CompletionsUtc, int Promotions)
{
    /// <summary>Time from each decision to the end of its second phase; <see langword="null"/> in modes without one.</summary>
    public Durations? SecondPhase { get; init; }

    /// <summary>Durations from the receive of a batch to its commit; <see langword="null"/> without batches.</summary>
    public Durations? Batch { get; init; }

    /// <summary>The time of a message by phase; <see langword="null"/> if the endpoint measures none of it.</summary>
    public ServiceTime? ServiceTime { get; init; }

    /// <summary>True if one handler waited until all other messages were handled; <see langword="null"/>: none had to.</summary>
    public bool? OneHasWaited { get; init; }

    public static DrainReport Nothing { get; } = new(FirstEntryUtc: null, Entries: 0, Handled: 0, CompletionsUtc: [], Promotions: 0);

    /// <summary>The reports of several processes as one. Durations are left out: the quantiles of all do not follow from those of each.</summary>
    public static DrainReport Of(IReadOnlyList<DrainReport> reports) => reports is [var only]
        ? only
        : new(
            reports.Min(report => report.FirstEntryUtc), reports.Sum(report => report.Entries), reports.Sum(report => report.Handled),
            [.. reports.SelectMany(report => report.CompletionsUtc)], reports.Sum(report => report.Promotions));
}
