namespace Kit.Runner.Results.Pages;

/// <summary>The gain of the bare endpoint on PostgreSQL by another value on an axis, next to the default one.</summary>
/// <param name="columns">Columns about savings and losses.</param>
internal sealed class Gains(string axis, params IReadOnlyList<string> columns) : BlockKind($"{axis}-gains")
{
    public override BlockText Write(BlockSources sources)
    {
        var run = sources.Run;
        var others = run.Run.Cells.Where(cell => cell.Cell.On(axis) is not null).ToList();
        var cells = run.Run.Cells.Where(cell => others.Exists(other => other.Cell.Without(axis) == cell.Cell)).Concat(others);
        return BlockText.Of(
        [
            .. RateTable.Of(
                run, [.. cells],
                [SummaryTable.ValidRounds, SummaryTable.Mean, SummaryTable.Interval, SummaryTable.RatioToDefault, .. columns]),
            "",
            $"From {sources.LinkTo(run)}, {run.Settings}. *Default* is the same mode without another {axis}. Compare its figures with each other only.",
        ]);
    }
}
