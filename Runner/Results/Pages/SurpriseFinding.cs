using Kit.Modes;

namespace Kit.Runner.Results.Pages;

/// <summary>The same comparison with its evidence.</summary>
internal sealed class SurpriseFinding() : BlockKind("surprise-finding")
{
    public override BlockText Write(BlockSources sources)
    {
        var surprise = Surprise.Of(sources.Run);
        return BlockText.Of(
            $"In {sources.LinkTo(sources.Run)} bare `{TransactionMode.Shared}` handled {RateOf(surprise.Exact)} commits for each, " +
            $"`{TransactionMode.TransactionsOff}` {RateOf(surprise.Without)}. Ratio, round by round: {surprise.Comparison}.");
    }

    private static string RateOf(CellResult cell) =>
        $"{Figures.Measured(cell.Rate!.Mean)} messages a second" +
        (cell.Rate.Factor is null ? "" : $" ({Figures.Measured(cell.Rate.Low)} to {Figures.Measured(cell.Rate.High)})") +
        $" with {Figures.Measured(cell.MeanOf(round => round.Costs.Commits.Value))}";
}
