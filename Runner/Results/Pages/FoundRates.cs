using Kit.Runner.Results.Loads;

namespace Kit.Runner.Results.Pages;

/// <summary>
/// The highest sustained rate of each cell, next to its drain, and its latency below that rate. Of a cell that several loads have searched, the last counts.
/// </summary>
internal sealed class FoundRates() : BlockKind("found-rates")
{
    public override BlockText Write(BlockSources sources)
    {
        var settings = sources.Loads[0].Load!.Settings;
        if (sources.Loads.FirstOrDefault(folder => folder.Load!.Settings != settings) is { } other)
            throw new KitException($"the loads in {sources.Loads[0].Folder} and {other.Folder} have different settings.", "Name loads with the same ones.");
        var found = sources.Loads.SelectMany(folder => FoundRate.In(folder.Load!)).GroupBy(one => $"{one.Cell}").Select(alike => alike.Last()).ToList();
        if (found.All(one => one.Best is null))
        {
            throw new KitException(
                $"no load in {string.Join(", ", sources.Block.Folders)} has a rate that was sustained in a search.", "Name one that has: load --find-rate");
        }

        var run = sources.RunOrNone;
        List<double> shares = [.. found.SelectMany(one => one.Below).Select(below => below.ShareOfFound!.Value).Distinct().Order()];
        List<string> headers =
        [
            "Cell", .. run is null ? [] : new[] { "Drain msg/s" }, "Highest msg/s",
            .. shares.SelectMany(share => new[] { $"p50 ms at {Figures.Share(share)}", $"p99 ms at {Figures.Share(share)}" }),
        ];
        return BlockText.Of(
        [
            .. MarkdownTables.LinesOf(headers, found.Select(RowOf), header => header != "Cell"),
            "",
            $"From {string.Join(", ", sources.Loads.Select(sources.LinkToTables))}" +
            $"{(run is null ? "" : $", and the drains from {sources.LinkTo(run)}, {run.Settings}")}. " +
            $"{Figures.Measured(settings.Seconds)} s at each rate, p99 up to {Figures.Measured(settings.LimitMilliseconds)} ms, " +
            $"{Figures.Plain(settings.Concurrency)} at a time." +
            (found.Any(IsLowerBound) ? " ≥: at the next rate only the sender was late, so the endpoint may sustain more." : "") +
            (found.SelectMany(one => one.Below).Any(IsBroken) ? " *: the sender was late in this load, or its backlog grew." : ""),
        ]);

        bool IsBroken(LoadResult below) => below.ReasonsAgainst(settings.LimitMilliseconds).Count > 0;

        static bool IsLowerBound(FoundRate one) => one is { Best: not null, MayBeHigher: true };

        IReadOnlyList<string> RowOf(FoundRate one) =>
        [
            $"{one.Cell}",
            .. run is null ? [] : new[] { Figures.Measured(run.Run.Cells.FirstOrDefault(cell => $"{cell.Cell}" == $"{one.Cell}")?.Rate?.Mean) },
            $"{(IsLowerBound(one) ? "≥ " : "")}{Figures.Measured(one.Best?.Rate)}",
            .. from share in shares
               let below = one.Below.FirstOrDefault(below => below.ShareOfFound == share)
               from figure in new[] { below?.Latency?.P50, below?.Latency?.P99 }
               select Figures.Measured(figure) + (below is not null && IsBroken(below) ? " *" : ""),
        ];
    }
}
