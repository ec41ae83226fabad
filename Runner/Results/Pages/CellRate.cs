using Kit.Modes;

namespace Kit.Runner.Results.Pages;

/// <summary>The rate of one cell of a run, as the run's tables show it.</summary>
/// <param name="Scenario">What the handler did; <see langword="null"/>: the default, if the run does not name it.</param>
/// <param name="PerSecond">Messages per second with their 95 % interval.</param>
/// <param name="ToTransactionsOff">
/// The ratio to <c>transactions-off</c> in the same run, with its 95 % interval and no verdict; <see langword="null"/> if no round counts in both.
/// </param>
public sealed record CellRate(string? Scenario, string PerSecond, string? ToTransactionsOff, Estimate Rate)
{
    /// <summary>What a drain does not say, for whoever compares it with messages that arrive.</summary>
    public const string OfArrivals = "A drain starts with a full queue. Where messages arrive, 0.5 to 0.8 of its rate was sustained: docs/guides/load.md";

    /// <summary><c>yes</c> if a drain reaches so many messages a second, <c>no</c> if not, <c>not sure</c> if the interval covers the number.</summary>
    public string Reaches(double perSecond) => Rate.Low >= perSecond ? "yes" : Rate.High < perSecond ? "no" : "not sure";

    /// <param name="cell">Without a scenario.</param>
    /// <returns>The rate of each of its scenarios that has a round that counts.</returns>
    public static IReadOnlyList<CellRate> Of(RecordedRun run, CellName cell) =>
    [
        .. from measured in run.Cells
           let rate = measured.Rate
           where rate is not null && measured.Cell.Without(AxisName.Scenario) == cell
           select new CellRate(
               measured.Cell.On(AxisName.Scenario, run.Document.Implied),
               $"{Figures.Measured(rate.Mean)} ({SummaryTable.IntervalOf(rate)})",
               RecordedRun.IsTransactionsOff(measured) ? "1" : run.AgainstTransactionsOff(measured)?.Text,
               rate),
    ];
}
