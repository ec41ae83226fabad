using Kit.Runner.Results.Faults;

namespace Kit.Runner.Results.Pages;

/// <summary>The result of a storm, by cell.</summary>
internal static class Storms
{
    public static BlockText Write(BlockSources sources)
    {
        var storms = sources.Storms;
        return BlockText.Of(
            GuaranteeTables.SignatureOfStorms(storms.Storms, storms.Document),
            $"From {sources.LinkTo(storms)}, {Figures.Day(storms.Document.StartedUtc)}. {SpeedsOf(sources, storms)}", "", InFlightOf(storms.Storms));
    }

    private static string SpeedsOf(BlockSources sources, FaultSource storms)
    {
        if (storms.Document.Speeds is not { } speeds)
            return "No run was named for the speeds.";

        var tables = $"{speeds.Folder.TrimEnd('/')}/{RunFolder.TablesFile}";
        var run = sources.HasFile(tables) ? $"[{speeds.Folder}]({sources.LinkTo(tables)})" : $"`{speeds.Folder}`, which is not published";
        var build = speeds.IsOfBuild(storms.Document.Commit) ? "the same build" : "another build";
        return $"The speeds are of {run}, a run of {build} without faults, {speeds.Handler}.";
    }

    private static string InFlightOf(IReadOnlyList<FaultResult> storms)
    {
        var usual = storms.GroupBy(storm => storm.Storm!.InFlight).MaxBy(same => same.Count())!.Key;
        var others = storms.Where(storm => storm.Storm!.InFlight != usual)
            .Select(storm => $" In {storm.Cell.Framework}/{storm.Cell.Transport}/{storm.Cell.Mode} up to {Figures.Count(storm.Storm!.InFlight)} were " +
                             $"in flight ({Figures.Count(storm.Storm.Kills)} kills and {Figures.Count(storm.Storm.Cuts)} cuts).")
            .ToList();
        return "A 0 means, with 95 % confidence, fewer than 3 of the messages in flight at the kills and cuts, " +
            $"which were up to {Figures.Count(usual)} (rule of three)."
            + string.Concat(others)
            + " A message in several classes is counted in the worst; the rates in the report count it in each.";
    }
}
