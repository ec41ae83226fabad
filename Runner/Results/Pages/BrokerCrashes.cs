using Kit.Guarantees;
using Kit.Modes;
using Kit.Runner.Results.Faults;

namespace Kit.Runner.Results.Pages;

/// <summary>How many messages the bare endpoint doubled after crashes of the broker at three moments of a drain.</summary>
internal sealed class BrokerCrashes() : BlockKind("broker-crashes")
{
    private static readonly IReadOnlyList<Fault> Crashes = [Fault.RestartBroker, Fault.RestartBrokerHalfway, Fault.RestartBrokerLate];

    public override BlockText Write(BlockSources sources)
    {
        var doubled = Crashes.Select(crash => ResultOf(sources, crash, TransactionMode.DtcOff)).ToList();
        var outbox = Crashes.Select(crash => ResultOf(sources, crash, TransactionMode.Outbox)).ToList();
        return BlockText.Of(
            $"In {string.Join(", ", sources.Experiments.Select(sources.LinkTo))} the broker was killed (SIGKILL) at 5 %, half and 90 % of a drain of " +
            $"{Figures.Count(doubled[0].Messages)} messages. The bare endpoint in `{TransactionMode.DtcOff}` handled again {Listed(doubled, AgainOf)} of the " +
            $"{Listed(doubled, result => CrashOf(result).Returned)} messages whose handler had returned, and doubled {Listed(doubled, DoubledOf)}; " +
            $"`{TransactionMode.Outbox}` doubled {Listed(outbox, DoubledOf)}.");
    }

    private static FaultResult ResultOf(BlockSources sources, Fault crash, TransactionMode mode) =>
        sources.Experiments.SelectMany(folder => folder.Results).FirstOrDefault(result =>
            result is { Cell: { Framework: "bare", Transport: "rabbitmq" }, HandledAgain: not null } && ShownCells.IsPlain(result.Cell)
            && result.Fault == crash.Name && result.Cell.Mode == mode.Name)
        ?? throw new KitException(
            $"its folders hold no experiment bare/rabbitmq/{mode} {crash}.", "Name the folder of one: faults --framework bare --transport rabbitmq");

    private static HandledAgain CrashOf(FaultResult result) => result.HandledAgain!;

    private static int AgainOf(FaultResult result) => CrashOf(result).Again;

    private static int DoubledOf(FaultResult result) => result.Counts.GetValueOrDefault(DeliveryClass.Duplicated);

    private static string Listed(IReadOnlyList<FaultResult> results, Func<FaultResult, int> count)
    {
        var counts = results.Select(result => Figures.Count(count(result))).ToList();
        return $"{string.Join(", ", counts.SkipLast(1))} and {counts[^1]}";
    }
}
