using Kit.Modes;

namespace Kit.Runner.Results.Pages;

/// <summary>The round trips that a message waits for, in the cells of a run that were measured at several distances.</summary>
internal sealed class RoundTrips() : BlockKind("round-trips")
{
    public override BlockText Write(BlockSources sources)
    {
        var run = sources.Run;
        var slopes = RoundTripSlope.Of(run.Run);
        if (slopes.Count == 0)
            throw new KitException($"the run in {run.Folder} has no cell at several distances.", "Name the folder of a run that has: run --rtt 0ms,5ms");

        return BlockText.Of(
        [
            .. MarkdownTables.LinesOf(RoundTripTable.Headers, RoundTripTable.Rows(slopes), ReportText.IsFigure),
            "",
            $"From {sources.LinkTo(run)}, {run.Settings}, measured through a proxy that adds {Distances(slopes, run.Run)} to each round trip.",
        ]);
    }

    private static string Distances(IReadOnlyList<RoundTripSlope> slopes, RecordedRun run) =>
        string.Join(", ", run.Cells.Where(cell => slopes.Any(slope => slope.Cell == cell.Cell.Without(AxisName.RoundTrip)))
            .Select(cell => cell.Cell.On(AxisName.RoundTrip)).Distinct(StringComparer.Ordinal));
}
