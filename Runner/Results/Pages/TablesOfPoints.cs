using Kit.Runner.Results.Faults;
using Kit.Runner.Results.Points;

namespace Kit.Runner.Results.Pages;

/// <summary>The outcome of the message at every point of a handling, cell by cell.</summary>
internal static class TablesOfPoints
{
    /// <param name="crashesServer">True if the server crashed at the points; false if something happened to its client.</param>
    public static BlockText Write(BlockSources sources, bool crashesServer)
    {
        var source = sources.Experiments is [var only] ? only : throw new KitException("it needs one folder.", "Leave the others out of its mark.");
        var met = new GuaranteeReport(source.Document, source.Results).Ordered.Where(result => result.Point is not null).ToList();
        if (met.Count == 0 || met.Exists(result => result.Point!.Way.Facts().CrashesServer != crashesServer))
        {
            throw new KitException(
                $"{source.Folder} has {(met.Count == 0 ? "no" : "other")} experiments at the points of a handling.",
                $"Name the folder of: faults --every-point{(crashesServer ? " --ways e,f" : "")}");
        }

        return BlockText.Of(PointTables.BriefOf(source.Document, met), $"From {sources.MadeIn(source)}.");
    }
}
