namespace Kit.Runner.Results.Pages;

/// <summary>The order of the commits in each mode of the bare endpoint on PostgreSQL, as the probe of the run saw it.</summary>
internal sealed class Sequences() : BlockKind("sequences")
{
    public override BlockText Write(BlockSources sources)
    {
        var run = sources.Run;
        var probes = run.Run.Document.Probes.Where(probe => ShownCells.IsBareOnPostgreSql(probe.Cell)).ToList();
        if (probes.Count == 0)
            throw new KitException($"the run in {run.Folder} has probed no bare cell on PostgreSQL.", "Name the folder of a run that has.");

        var columns = ProbeTable.Words.Count;
        return BlockText.Of(
        [
            .. MarkdownTables.LinesOf(
                [.. ProbeTable.Headers.Take(columns)],
                ProbeTable.Rows(probes).Select(row => (IReadOnlyList<string>)[.. row.Take(columns)]),
                ReportText.IsFigure),
            "",
            $"From {sources.LinkTo(run)}.",
        ]);
    }
}
