namespace Kit.Runner.Results.Pages;

/// <summary>The speed of each mode on each framework and transport.</summary>
internal sealed class Speeds() : BlockKind("speeds")
{
    public override BlockText Write(BlockSources sources)
    {
        var run = sources.Run;
        return BlockText.Of(
        [
            .. RateTable.Of(
                run,
                [.. run.Run.Cells.Where(cell => ShownCells.IsPlain(cell.Cell))],
                [
                    SummaryTable.ValidRounds, SummaryTable.Mean, SummaryTable.Interval, SummaryTable.RatioToStrictest,
                    .. run.Run.HasSeveralFrameworks ? [SummaryTable.RatioToBare] : Array.Empty<string>(),
                ]),
            "",
            $"From {sources.LinkTo(run)}, {run.Settings}. *Strictest* is the mode to which a crash can do least on the same framework and transport. " +
            "*Bare* is the driver alone.",
        ]);
    }
}
