using Kit.Modes;

namespace Kit.Runner.Results;

/// <summary>
/// The efficiency of several processes that share a queue: the rate of <i>n</i> processes, divided by <i>n</i> times the rate of one. A row for each number of
/// processes, a column for each mode.
/// </summary>
/// <param name="Headers">The cells if they differ in more than processes and mode, the number, the modes.</param>
/// <param name="Rows">Empty if no cell was measured next to the one with one process.</param>
internal sealed record EfficiencyTable(IReadOnlyList<string> Headers, IReadOnlyList<IReadOnlyList<string>> Rows)
{
    public const string Title = "Efficiency of several processes";

    public const string Legend =
        "The rate of n processes, divided by n times the rate of one, round by round, with its 95 % interval. 1: each process is as fast as one alone. " +
        "1/n: all together are.";

    private const string Others = "Other values";

    public static EfficiencyTable Of(RecordedRun run)
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
            [.. TransactionMode.All.Select(mode => mode.Name).Where(mode => compared.Exists(one => string.Equals(one.Mode, mode, StringComparison.Ordinal)))];
        var isOne = compared.Select(one => one.Others).Distinct(StringComparer.Ordinal).Count() < 2;
        return new EfficiencyTable(
            [.. Leading(isOne, Others), AxisName.Processes, .. modes],
            [
                .. from one in efficiencies
                   group one by (one.First.Others, one.First.Processes) into row
                   orderby row.Key.Others, row.Key.Processes
                   select (IReadOnlyList<string>)
                   [
                       .. Leading(isOne, row.Key.Others),
                       Figures.Plain(row.Key.Processes),
                       .. modes.Select(mode => row.FirstOrDefault(one => string.Equals(one.First.Mode, mode, StringComparison.Ordinal)).Second?.WithoutReading
                           ?? Figures.None),
                   ],
            ]);
    }

    /// <summary>True if a column contains figures, which are right-aligned.</summary>
    public static bool IsFigure(string header) => header is not Others;

    private static IEnumerable<string> Leading(bool isLeftOut, string text) => isLeftOut ? [] : [text];
}
