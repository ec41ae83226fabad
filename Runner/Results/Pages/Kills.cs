using Kit.Modes;
using Kit.Runner.Results.Faults;

namespace Kit.Runner.Results.Pages;

/// <summary>What many kills did to <c>full-dtc</c>.</summary>
internal sealed class Kills() : BlockKind("kills")
{
    public override BlockText Write(BlockSources sources)
    {
        var storms = sources.Storms;
        var result = storms.OnlyStormOf(TransactionMode.FullDtc);
        var storm = result.Storm!;
        var done = $"{Figures.Count(storm.Kills)} kills" + (storm.Cuts > 0 ? $" and {Figures.Count(storm.Cuts)} cuts" : "");
        var notOnce = GuaranteeTables.NotOnceOf(result);
        return BlockText.Of(
            $"[{done}]({sources.LinkTo(storms.Tables)}) met up to {Figures.Count(storm.InFlight)} messages in flight{GuaranteeTables.WindowsOf(storm)}. " +
            (notOnce is "0"
                ? $"Of {Figures.Count(result.Messages)} messages none was lost or doubled, and none was left prepared." + (storm.UpperBound is { } bound
                    ? $" So a kill loses or doubles fewer than {Figures.Share(bound)} of the messages that it meets (rule of three, 95 %)."
                    : "")
                : $"Of {Figures.Count(result.Messages)} messages these were not handled exactly once: {notOnce}."));
    }
}
