using Kit.Modes;
using Kit.Runner.Results.Accounts;
using Kit.Runner.Results.Faults;

namespace Kit.Runner.Results.Pages;

/// <summary>What many kills did to <c>full-dtc</c>.</summary>
internal sealed class Kills() : BlockKind("kills")
{
    public override BlockText Write(BlockSources sources)
    {
        var storms = sources.Storms;
        var result = storms.StormOf(TransactionMode.FullDtc);
        var storm = result.Storm!;
        var done = $"{Figures.Count(storm.Kills)} kills" + (storm.Cuts > 0 ? $" and {Figures.Count(storm.Cuts)} cuts" : "");
        var notOnce = GuaranteeTables.NotOnceOf(result);
        return BlockText.Of(
            $"[{done}]({sources.LinkTo(storms.Tables)}), {Figures.Count(result.Messages)} messages, " +
            (notOnce is "0"
                ? $"0 lost, 0 doubled, 0 left prepared, so less than {Figures.Measured(RuleOfThree.UpperBound(storm.InFlight))} for each handler that could " +
                  "be running (rule of three, 95 %)."
                : $"not handled exactly once: {notOnce}."));
    }
}
