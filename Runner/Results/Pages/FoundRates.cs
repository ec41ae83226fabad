using Kit.Runner.Results.Loads;

namespace Kit.Runner.Results.Pages;

/// <summary>The highest sustained rate of each cell, next to its drain, and its latency below that rate.</summary>
internal sealed class FoundRates() : BlockKind("found-rates")
{
    public override BlockText Write(BlockSources sources)
    {
        var folder = sources.Load;
        var load = folder.Load!;
        var found = FoundRate.In(load);
        if (found.All(one => one.Best is null))
            throw new KitException($"the load in {folder.Folder} has no rate that was sustained in a search.", "Name one that has: load --find-rate");

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
            $"From {sources.LinkToTables(folder)}{(run is null ? "" : $", and the drains from {sources.LinkTo(run)}, {run.Settings}")}. " +
            $"{Figures.Measured(load.Settings.Seconds)} s at each rate, p99 up to {Figures.Measured(load.Settings.LimitMilliseconds)} ms, " +
            $"{Figures.Plain(load.Settings.Concurrency)} at a time.",
        ]);

        IReadOnlyList<string> RowOf(FoundRate one) =>
        [
            $"{one.Cell}",
            .. run is null ? [] : new[] { Figures.Measured(run.Run.Cells.FirstOrDefault(cell => $"{cell.Cell}" == $"{one.Cell}")?.Rate?.Mean) },
            Figures.Measured(one.Best?.Rate),
            .. from share in shares
               let below = one.Below.FirstOrDefault(below => below.ShareOfFound == share)
               from figure in new[] { below?.Latency?.P50, below?.Latency?.P99 }
               select Figures.Measured(figure),
        ];
    }
}
