using Kit.Runner.Results.Faults;
using Kit.Runner.Results.Points;

namespace Kit.Runner.Results.Pages;

/// <summary>The outcome of the message at every point of a handling at which something happened to its client.</summary>
internal static class TablesOfPoints
{
    public static BlockText Write(BlockSources sources)
    {
        var source = sources.Experiments is [var only] ? only : throw new KitException("it needs one folder.", "Leave the others out of its mark.");
        var met = new GuaranteeReport(source.Document, source.Results).Ordered.Where(result => result.Point is not null).ToList();
        if (met.Count == 0 || met.Exists(result => result.Point!.Way.Facts().CrashesServer))
        {
            throw new KitException(
                $"{source.Folder} has {(met.Count == 0 ? "no" : "other")} experiments at the points of a handling.",
                "Name the folder of: faults --every-point");
        }

        return BlockText.Of(
            ModeGrid.Of(met, result => result.Cell, PointTables.ClassesOf), $"{Figures.Count(met.Count)} experiments, from {sources.MadeIn(source)}.");
    }
}
