using Kit.Runner.Results.Faults;

namespace Kit.Runner.Results.Pages;

/// <summary>The messages of each storm that were not handled exactly once.</summary>
internal static class Storms
{
    public static BlockText Write(BlockSources sources)
    {
        var storms = sources.Storms;
        return BlockText.Of(
            ModeGrid.Of(storms.Storms, storm => storm.Cell, found => string.Join("; ", found.Select(GuaranteeTables.NotOnceOf))),
            $"From {sources.LinkTo(storms)}, {Figures.Day(storms.Document.StartedUtc)}.", "", ZeroOf(storms.Storms));
    }

    private static string ZeroOf(IReadOnlyList<FaultResult> storms)
    {
        var usual = storms.GroupBy(storm => storm.Storm!.Faults).MaxBy(same => same.Count())!.Key;
        var others = storms.Where(storm => storm.Storm!.Faults != usual)
            .Select(storm => $"{storm.Cell.Framework}/{storm.Cell.Transport}/{storm.Cell.Mode} of {Figures.Count(storm.Storm!.Faults)}")
            .ToList();
        return $"A 0 means, with 95 % confidence, that of {Figures.Count(usual)} such kills and cuts fewer than 3 cause one (rule of three)."
            + (others.Count == 0 ? "" : $" Of other numbers of kills and cuts: {string.Join(", ", others)}.")
            + " A message in several classes is counted in the worst.";
    }
}
