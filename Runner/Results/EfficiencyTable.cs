using Kit.Modes;

namespace Kit.Runner.Results;

/// <summary>
/// The efficiency of several processes that share a queue: the rate of <i>n</i> processes, divided by <i>n</i> times the rate of one. A row for each number of
/// processes, a column for each mode.
/// </summary>
internal static class EfficiencyTable
{
    private const string Legend =
        "The rate of n processes, divided by n times the rate of one, round by round, with its 95 % interval. 1: each process is as fast as one alone. " +
        "1/n: all together are.";

    /// <returns>No rows if no cell was measured next to the one with one process.</returns>
    public static Table Of(RecordedRun run)
    {
        var compared =
        (
            from cell in run.Cells
            let value = cell.Cell.On(AxisName.Processes)
            where value is not null
            let alone = cell.Cell.Without(AxisName.Processes)
            let ratio = run.Cells.FirstOrDefault(other => other.Cell == alone) is { } one && one.Clock == cell.Clock ? cell.Against(one) : null
            where ratio is not null
            let processes = GridTable.NumberOf(value)
            select (Others: alone.Group, Processes: processes, alone.Mode, Ratio: ratio with { Log = ratio.Log - Math.Log(processes) })
        ).ToList();
        var efficiencies = compared.Zip(Comparison.OfAll([.. compared.Select(one => one.Ratio)], Margin.Default)).ToList();
        IReadOnlyList<string> modes =
            [.. TransactionMode.All.Select(mode => mode.Name).Where(mode => compared.Exists(one => one.Mode == mode))];
        var isOne = compared.Select(one => one.Others).Distinct().Count() < 2;
        return new(
            [.. GridTable.LeadingOf(isOne), new(AxisName.Processes), .. modes.Select(mode => new Column(mode))],
            [
                .. from one in efficiencies
                   group one by (one.First.Others, one.First.Processes) into row
                   orderby row.Key.Others, row.Key.Processes
                   select (IReadOnlyList<string>)
                   [
                       .. isOne ? [] : (string[])[row.Key.Others],
                       Figures.Plain(row.Key.Processes),
                       .. modes.Select(mode => row.FirstOrDefault(one => one.First.Mode == mode).Second?.WithoutReading ?? Figures.None),
                   ],
            ])
        { Title = "Efficiency of several processes", Legend = Legend };
    }
}
