using Kit.Runner.Results.Faults;

namespace Kit.Runner.Results.Pages;

/// <summary>What became of the message at every point of a handling, cell by cell.</summary>
internal sealed class EveryPointTable() : BlockKind("every-point")
{
    public override BlockText Write(BlockSources sources)
    {
        var source = sources.Experiments is [var only] ? only : throw new KitException("it needs one folder.", "Leave the others out of its mark.");
        var met = source.Results.Where(result => result.Point is not null).ToList();
        if (met.Count == 0)
            throw new KitException($"{source.Folder} has no experiments at the points of a handling.", "Name the folder of some: faults --every-point");

        var (headers, rows) = PointTables.BriefOf(source.Document, met);
        return BlockText.Of(
        [
            .. MarkdownTables.LinesOf(headers, rows, PointTables.IsFigure),
            "",
            $"From {sources.LinkTo(source)}, {Figures.Day(source.Document.StartedUtc)}.",
        ]);
    }
}
