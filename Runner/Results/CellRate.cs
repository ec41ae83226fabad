using Kit.Runner.Results.Pages;

namespace Kit.Runner.Results;

/// <summary>The rate of one cell of a run, as the documentation shows it.</summary>
public static class CellRate
{
    /// <param name="run">The run.</param>
    /// <param name="framework">The cell's framework.</param>
    /// <param name="transport">The cell's transport.</param>
    /// <param name="mode">The cell's mode.</param>
    /// <returns>
    /// Messages per second with their 95 % interval, for the handler that inserts one row with ADO.NET; <see langword="null"/> if the run has no
    /// counting round of that cell.
    /// </returns>
    public static string? Of(RecordedRun run, string framework, string transport, string mode)
    {
        ArgumentNullException.ThrowIfNull(run);
        var cell = run.Cells.FirstOrDefault(cell => ShownCells.IsPlain(cell.Cell) && cell.Cell.Framework == framework
            && cell.Cell.Transport == transport && cell.Cell.Mode == mode);
        return cell?.Rate is { } rate ? $"{Figures.Measured(rate.Mean)} ({SummaryTable.IntervalOf(rate)})" : null;
    }
}
