namespace Kit.Runner.Results.Pages;

/// <summary>The efficiency of several processes that share a queue, by mode.</summary>
internal sealed class ProcessesEfficiency() : BlockKind("processes-efficiency")
{
    public override BlockText Write(BlockSources sources)
    {
        var run = sources.Run;
        var table = EfficiencyTable.Of(run.Run);
        if (table.Rows.Count == 0)
            throw new KitException($"the run in {run.Folder} has no cell with one process and with several.", "Name a run that has: run --processes 1,2,4");

        return BlockText.Of(
        [
            .. MarkdownTables.LinesOf(table.Headers, table.Rows, EfficiencyTable.IsFigure),
            "",
            $"From {sources.LinkTo(run)}, {run.Settings}" +
            (run.Run.Document.WorkersNeeded is { } workers
                ? $", handlers on other machines: {Figures.Plain(workers)}."
                : ", clients and servers on one machine."),
        ]);
    }
}
