using Kit.Modes;
using Kit.Runner.Results.Faults;

namespace Kit.Runner.Results.Pages;

/// <summary>The sentence of the front page. It claims no more than the run and the storm show.</summary>
internal sealed class SurpriseSentence() : BlockKind("surprise")
{
    /// <exception cref="KitException">A message of the storm was not handled exactly once.</exception>
    public override BlockText Write(BlockSources sources)
    {
        var surprise = Surprise.Of(sources.Run);
        var storms = sources.Storms;
        if (GuaranteeTables.NotOnceOf(storms.StormOf(TransactionMode.Shared)) is not "0" and var found)
        {
            throw new KitException(
                $"it says that {TransactionMode.Shared} handles each message exactly once, and its storm in {storms.Folder} shows: {found}.",
                "Find out why before anything is published.");
        }

        return BlockText.Of(
            $"**In this run `{TransactionMode.Shared}` handled each message exactly once, and {surprise.Claim}: " +
            $"{Figures.Measured(surprise.Exact.Rate!.Mean)} messages a second, " +
            $"and `{TransactionMode.TransactionsOff}` {Figures.Measured(surprise.Without.Rate!.Mean)}.** " +
            $"Ratio, round by round: {surprise.Comparison}.");
    }
}
