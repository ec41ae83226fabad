using Kit.Modes;

namespace Kit.Runner.Results.Pages;

/// <summary>The rate of one cell of a run, as the run's tables show it.</summary>
/// <param name="PerSecond">Messages per second with their 95 % interval.</param>
/// <param name="ToTransactionsOff">
/// The ratio to <c>transactions-off</c> in the same run, with its 95 % interval and no verdict; <see langword="null"/> if no round counts in both.
/// </param>
/// <param name="Rate">The rate itself.</param>
public sealed record CellRate(string PerSecond, string? ToTransactionsOff, Estimate Rate)
{
    /// <summary>Whether the cell drains so many messages a second: <c>yes</c>, <c>no</c>, or <c>not sure</c> where the interval covers it.</summary>
    /// <param name="perSecond">Messages a second.</param>
    public string Drains(double perSecond) => Rate.Low >= perSecond ? "yes" : Rate.High < perSecond ? "no" : "not sure";

    /// <param name="run">The run.</param>
    /// <param name="framework">The cell's framework.</param>
    /// <param name="transport">The cell's transport.</param>
    /// <param name="mode">The cell's mode.</param>
    /// <param name="scenario">What its handler does; <see langword="null"/>: one insert, which names leave out.</param>
    /// <returns>The rate with ADO.NET; <see langword="null"/> if the run has no counting round of that cell.</returns>
    public static CellRate? Of(RecordedRun run, string framework, string transport, TransactionMode mode, string? scenario)
    {
        ArgumentNullException.ThrowIfNull(run);
        ArgumentNullException.ThrowIfNull(mode);
        var cell = run.Cells.FirstOrDefault(cell => ShownCells.IsPlain(cell.Cell, scenario) && cell.Cell.Framework == framework
            && cell.Cell.Transport == transport && cell.Cell.Mode == mode.Name);
        return cell?.Rate is { } rate
            ? new CellRate(
                $"{Figures.Measured(rate.Mean)} ({SummaryTable.IntervalOf(rate)})",
                mode == TransactionMode.TransactionsOff ? "1" : run.AgainstTransactionsOff(cell)?.WithoutReading,
                rate)
            : null;
    }
}
