using Kit.Runner.Results.Loads;

namespace Kit.Runner.Results.Pages;

/// <summary>A table for each load of the folders that was followed through its time, and a picture for each folder.</summary>
internal static class FollowedLoads
{
    /// <summary>The figures that can grow.</summary>
    public static BlockText Soaks(BlockSources sources) =>
        Write(sources, "figures that were followed", "load --for 10min", result => result.Soak is not null, LoadReport.SoakOf);

    /// <summary>The effect of an open reader.</summary>
    public static BlockText HeldSnapshots(BlockSources sources) =>
        Write(sources, "a held snapshot", "load --held-snapshot 60s..120s", result => result.Parts is not null, LoadReport.PartsOf);

    /// <param name="what">The need of a load for it, in words.</param>
    private static BlockText Write(BlockSources sources, string what, string command, Func<LoadResult, bool> has, Func<LoadResult, Table> tableOf)
    {
        var lines = new List<string>();
        foreach (var folder in sources.Loads.Where(folder => folder.Load!.Results.Any(has)))
        {
            foreach (var result in folder.Load!.Results.Where(has))
            {
                lines.AddRange(
                [
                    $"**{result.Cell} at {result.Asked} for {Figures.Measured(TimeSpan.FromSeconds(result.Seconds).TotalMinutes)} min**, " +
                    $"from {sources.LinkToTables(folder)}:",
                    "", .. tableOf(result).Lines, "",
                ]);
            }

            if (sources.HasFile($"{folder.Folder}/{LoadFolder.PictureFile}"))
                lines.AddRange([LoadReport.PictureLine(sources.LinkTo($"{folder.Folder}/{LoadFolder.PictureFile}")), ""]);
        }

        return lines.Count > 0
            ? new BlockText([.. lines.SkipLast(1)])
            : throw new KitException($"no load of its folders has {what}.", $"Name one that has: {command}");
    }
}
