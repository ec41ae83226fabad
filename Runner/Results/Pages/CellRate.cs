using Kit.Modes;

namespace Kit.Runner.Results.Pages;

/// <summary>The rate of one cell of a run, as the run's tables show it.</summary>
/// <param name="PerSecond">Messages per second with their 95 % interval.</param>
/// <param name="ToTransactionsOff">
/// The ratio to <c>transactions-off</c> in the same run, with its 95 % interval and no verdict; <see langword="null"/> if no round counts in both.
/// </param>
public sealed record CellRate(string PerSecond, string? ToTransactionsOff, Estimate Rate)
{
    /// <summary><c>yes</c> if the cell drains so many messages a second, <c>no</c> if not, <c>not sure</c> if the interval covers the number.</summary>
    public string Drains(double perSecond) => Rate.Low >= perSecond ? "yes" : Rate.High < perSecond ? "no" : "not sure";

    /// <param name="scenario"><see langword="null"/>: one insert, which names leave out.</param>
    /// <returns>The rate with ADO.NET; <see langword="null"/> if the run has no counting round of that cell.</returns>
    public static CellRate? Of(RecordedRun run, string framework, string transport, TransactionMode mode, string? scenario)
    {
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
