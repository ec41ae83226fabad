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
            $"From {sources.LinkTo(storms)}, {Figures.Day(storms.Document.StartedUtc)}.", "", InFlightOf(storms.Storms));
    }

    private static string InFlightOf(IReadOnlyList<FaultResult> storms)
    {
        var usual = storms.GroupBy(storm => storm.Storm!.InFlight).MaxBy(same => same.Count())!.Key;
        var others = storms.Where(storm => storm.Storm!.InFlight != usual)
            .Select(storm => $"{storm.Cell.Framework}/{storm.Cell.Transport}/{storm.Cell.Mode} up to {Figures.Count(storm.Storm!.InFlight)}")
            .ToList();
        return "A 0 means, with 95 % confidence, fewer than 3 of the messages in flight at the kills and cuts, " +
            $"which were up to {Figures.Count(usual)} (rule of three)."
            + (others.Count == 0 ? "" : $" Of fewer kills and cuts: {string.Join(", ", others)}.")
            + " A message in several classes is counted in the worst.";
    }
}
