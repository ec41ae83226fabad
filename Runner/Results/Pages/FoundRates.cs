using Kit.Runner.Results.Loads;

namespace Kit.Runner.Results.Pages;

/// <summary>
/// The highest sustained rate of each cell, next to its drain, and its latency below that rate. Of a cell that several loads have searched, the last is in the
/// table, and the others are said below it.
/// </summary>
internal static class FoundRates
{
    /// <summary>A gap that a search leaves is smaller.</summary>
    private const double Wide = 1.2;

    public static BlockText Write(BlockSources sources)
    {
        var settings = sources.Loads[0].Load!.Settings;
        if (sources.Loads.FirstOrDefault(folder => folder.Load!.Settings != settings) is { } other)
            throw new KitException($"the loads in {sources.Loads[0].Folder} and {other.Folder} have different settings.", "Name loads with the same ones.");
        var first = sources.Loads[0].Load!;
        if (sources.Loads.FirstOrDefault(folder => !IsOfTheSame(first, folder.Load!)) is { } stranger)
        {
            throw new KitException(
                $"the loads in {sources.Loads[0].Folder} and {stranger.Folder} are of different builds or machines.", "Name loads of one build and machine.");
        }

        var searches = sources.Loads.SelectMany(folder => FoundRate.In(folder.Load!)).GroupBy(one => $"{one.Cell}").ToList();
        var found = searches.ConvertAll(alike => alike.Last());
        if (found.All(one => one.Best is null))
        {
            throw new KitException(
                $"no load in {string.Join(", ", sources.Block.Folders)} has a rate that was sustained in a search.", "Name one that has: load --find-rate");
        }

        var run = sources.RunOrNone;
        List<CellResult> drains = run is null ? [] : [.. found.Select(one => DrainOf(run, one)).OfType<CellResult>()];
        List<double> shares = [.. found.SelectMany(one => one.Below).Select(below => below.ShareOfFound!.Value).Distinct().Order()];
        return BlockText.Of(
            Table.Of<FoundRate>(
                [
                    new("Cell", one => $"{one.Cell}", IsFigure: false),
                    .. run is null ? [] : (Column<FoundRate>[])
                        [new("Drain msg/s", one => Figures.Measured(DrainOf(run, one)?.Rate?.Mean))],
                    new("Highest msg/s", RateOf),
                    .. shares.SelectMany(share => (Column<FoundRate>[])
                    [
                        new($"p50 ms at {Figures.Share(share)}", one => Below(one, share, latency => latency.P50)),
                        new($"p99 ms at {Figures.Share(share)}", one => Below(one, share, latency => latency.P99)),
                    ]),
                ],
                found),
            $"From {string.Join(", ", sources.Loads.Select(sources.LinkToTables))}" +
            $"{(run is null ? "" : $", and the drains from {sources.LinkTo(run)}, {run.SettingsOf(drains)}")}. " +
            $"{Figures.Measured(settings.Seconds)} s at each rate, p99 up to {Figures.Measured(settings.LimitMilliseconds)} ms, " +
            $"{Figures.Plain(settings.Concurrency!.Value)} at a time." +
            (found.Where(IsLowerBound).SelectMany(one => one.WhyMaybeHigher).Distinct().ToList() is { Count: > 0 } nothings
                ? $" ≥: at the next rate {string.Join(", or ", nothings)}, so the endpoint may sustain more."
                : "") +
            (Broken(found) is { Count: > 0 } reasons ? $" *: {string.Join(", or ", reasons)}." : "") +
            (found.SelectMany(one => one.Below.Where(below => IsOfAnother(one, below))).Select(below => Figures.Measured(below.FoundThen)).Distinct().ToList()
                is { Count: > 0 } then
                ? $" †: of {string.Join(" or ", then)}, which the build of the load called sustained, and this one does not."
                : "") +
            string.Concat(searches.Where(alike => alike.Skip(1).Any()).Select(alike =>
                $" `{alike.Key}` was searched {Figures.Count(alike.Count())} times: {string.Join(", then ", alike.Select(RateOf))}.")) +
            (LoadReport.NoiseIn([.. sources.Loads.SelectMany(folder => folder.Load!.Results)]) is { } noise ? $" **{noise}**" : ""));

        static CellResult? DrainOf(RunSource run, FoundRate one) => run.Run.Cells.FirstOrDefault(cell => $"{cell.Cell}" == $"{one.Cell}");

        IReadOnlyList<string> ReasonsAgainst(LoadResult below) => below.ReasonsAgainst(settings.LimitMilliseconds);

        List<string> Broken(IEnumerable<FoundRate> shown) => [.. shown.SelectMany(one => one.Below).SelectMany(ReasonsAgainst).Distinct()];

        static bool IsOfTheSame(LoadDocument one, LoadDocument other) =>
            one.Commit == other.Commit
            && one.Servers.All(server => other.Servers.GetValueOrDefault(server.Key, server.Value) == server.Value)
            && !RunDifferences.Between((one.Host, one.Servers, one.Disk), (other.Host, one.Servers, other.Disk)).Any();

        // Where a rate that the search called sustained is none, nothing was tried near the highest.
        static string RateOf(FoundRate one) => $"{(IsLowerBound(one) ? "≥ " : "")}{Figures.Measured(one.Best?.Rate)}"
            + (one is { Best: { } best, Next: { } next } && !IsLowerBound(one) && next.Rate > best.Rate * Wide ? $" to {Figures.Measured(next.Rate)}" : "");

        static bool IsOfAnother(FoundRate one, LoadResult below) => Math.Abs(below.Rate!.Value - ((below.ShareOfFound * one.Best?.Rate) ?? 0)) > 0.1;

        static bool IsLowerBound(FoundRate one) => one is { Best: not null, WhyMaybeHigher.Count: > 0 };

        string Below(FoundRate one, double share, Func<Latency, double?> figure)
        {
            var below = one.Below.FirstOrDefault(below => below.ShareOfFound == share);
            return Figures.Measured(below?.Latency is { } latency ? figure(latency) : null)
                + (below is not null && ReasonsAgainst(below).Count > 0 ? " *" : "")
                + (below is not null && IsOfAnother(one, below) ? " †" : "");
        }
    }
}
