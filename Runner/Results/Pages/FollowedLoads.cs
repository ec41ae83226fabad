using Kit.Runner.Results.Loads;

namespace Kit.Runner.Results.Pages;

/// <summary>A table for each load of the folders that was followed through its time, and a picture for each folder.</summary>
/// <param name="name">As in the marks.</param>
/// <param name="what">The need of a load for it, in words.</param>
/// <param name="has">True if a load has it.</param>
internal sealed class FollowedLoads(string name, string what, string command, Func<LoadResult, bool> has, Func<LoadResult, IEnumerable<string>> linesOf)
    : BlockKind(name)
{
    /// <summary>The figures that can grow.</summary>
    public static FollowedLoads Soaks { get; } =
        new("soaks", "figures that were followed", "load --for 10min", result => result.Soak is not null, LoadReport.SoakLinesOf);

    /// <summary>The effect of an open reader.</summary>
    public static FollowedLoads HeldSnapshots { get; } = new(
        "held-snapshots", "a held snapshot", "load --held-snapshot 60s..120s", result => result.Parts is not null, LoadReport.PartLinesOf);

    public override BlockText Write(BlockSources sources)
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
                    "", .. linesOf(result), "",
                ]);
            }

            if (sources.HasFile($"{folder.Folder}/{LoadFolder.PictureFile}"))
                lines.AddRange([LoadReport.PictureLine(sources.LinkTo($"{folder.Folder}/{LoadFolder.PictureFile}")), ""]);
        }

        return lines.Count > 0
            ? BlockText.Of([.. lines.SkipLast(1)])
            : throw new KitException($"no load of its folders has {what}.", $"Name one that has: {command}");
    }
}
