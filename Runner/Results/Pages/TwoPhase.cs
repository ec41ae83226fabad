using Kit.Modes;

namespace Kit.Runner.Results.Pages;

/// <summary>The costs of two-phase commit on PostgreSQL: the kit's, the kit's with waiting, and the driver's, next to two transactions.</summary>
internal sealed class TwoPhase() : BlockKind("two-phase")
{
    private static readonly IReadOnlyList<TransactionMode> Modes =
        [TransactionMode.FullDtc, TransactionMode.DtcOff, TransactionMode.FullDtcWaiting, TransactionMode.NpgsqlScope];

    public override BlockText Write(BlockSources sources)
    {
        var run = sources.Run;
        return BlockText.Of(
        [
            .. RateTable.Of(
                run,
                [.. Modes.Select(run.CellOf)],
                [
                    SummaryTable.ValidRounds, SummaryTable.Mean, SummaryTable.Interval, SummaryTable.RatioToStrictest, SummaryTable.SecondPhase,
                ]),
            "",
            $"From {sources.LinkTo(run)}, {run.Settings}. Compare its figures with each other only.",
        ]);
    }
}
