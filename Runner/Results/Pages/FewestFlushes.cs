using Kit.Modes;
using Kit.Runner.Results.Faults;

namespace Kit.Runner.Results.Pages;

/// <summary>The best line of the front page: exactly once without a flush of the log. It claims no more than the run and the storm show.</summary>
internal sealed class FewestFlushes() : BlockKind("fewest-flushes")
{
    /// <exception cref="KitException">
    /// The run lacks the cell or a round that counts, there is no storm of crashes over it, or a message of the storm was not handled exactly once.
    /// </exception>
    public override BlockText Write(BlockSources sources)
    {
        var run = sources.Run;
        var every = run.CellOf(TransactionMode.Shared);
        var none = run.Run.Cells.FirstOrDefault(
            cell => cell.Cell.On(RecordedRun.FlushAxis) == LogFlush.None.Name && cell.Cell.Without(RecordedRun.FlushAxis) == every.Cell);
        if (none?.Against(every) is not { } ratio)
        {
            throw new KitException(
                $"no round in {run.Folder} counts in {every.Cell} with and without flushes.", "Name the folder of a run with --flush every,none.");
        }

        var storm = StormOf(sources.Storms, none.Cell);
        return BlockText.Of(
            $"**Without waiting for the disk (`--flush {LogFlush.None.Name}`), `{TransactionMode.Shared}` reached " +
            $"{Figures.Measured(none.Rate!.Mean)} messages a second in {sources.LinkTo(run)}, and {Figures.Measured(every.Rate!.Mean)} with it.** " +
            $"Ratio, round by round: {Comparison.OfAll([ratio], Margin.Default)[0]}. After {Figures.Count(storm.Storm!.ServerCrashes)} " +
            $"crashes of the server the handler ran again for {Figures.Count(storm.Storm.Again ?? 0)} messages, and " +
            $"[each of {Figures.Count(storm.Messages)} messages]({sources.LinkTo(sources.Storms.Tables)}) had its effect exactly once.");
    }

    private static FaultResult StormOf(FaultSource storms, CellName cell)
    {
        var storm = storms.Storms.FirstOrDefault(storm => storm.Cell == cell && storm.Storm!.ServerCrashes > 0) ?? throw new KitException(
            $"{storms.Folder} has no storm with crashes of the server over {cell}.", "Make one: faults --storm --server-crashes.");
        return GuaranteeTables.NotOnceOf(storm) is "0" ? storm : throw new KitException(
            $"it says that each message was handled exactly once, and the storm in {storms.Folder} shows: {GuaranteeTables.NotOnceOf(storm)}.",
            "Find out why before anything is published.");
    }
}
