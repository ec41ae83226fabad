using Kit.Guarantees;
using Kit.Runner.Results;
using Kit.Runner.Results.Faults;

namespace Kit.Tests.Results.Pages;

/// <summary>Blocks that show single faults by mode: the promise is that of the sources, and what broke it is the run's.</summary>
public sealed class BlocksOfSingleFaults
{
    private readonly InventedRepository repository = new();

    [OneTimeTearDown]
    public void RemoveResults() => repository.Dispose();

    [Test]
    public void Show_promises_next_to_what_broke_them()
    {
        repository.SaveExperiments(
            "results/faults",
            [
                Of("outbox", "rabbitmq", Fault.KillAtDispatch, FaultVerdict.Kept, [DeliveryClass.Once], [DeliveryClass.Once]),
                Of("outbox", "postgresql", Fault.KillAtDispatch, FaultVerdict.NoWindow, [], []),
                Of("full-dtc", "postgresql", Fault.KillAtDispatch, FaultVerdict.NoWindow, [], []),
                Of("dtc-off", "rabbitmq", Fault.DatabaseAway, FaultVerdict.Broken, [DeliveryClass.Once], [DeliveryClass.CleanError, DeliveryClass.Once]),
                Of("scope-off", "rabbitmq", Fault.FailedDispatch, FaultVerdict.Broken, [DeliveryClass.Zombie], [DeliveryClass.Zombie]),
                Of("transactions-off", "rabbitmq", Fault.DatabaseAway, FaultVerdict.Kept, [DeliveryClass.Once], [DeliveryClass.Once]),
            ]);

        var lines = repository.Made("faults from results/faults").Split('\n');

        Assert.That(lines, Does.Contain(
            "| `kill-at-dispatch`: the process is killed while the handler's message is on its way to the broker; the message does not arrive " +
            "| no window | – | – | – | – | duplicated-outgoing/once; no window on postgresql |"));
        Assert.That(lines, Does.Contain(
            "| `failed-dispatch`: the queue that the handler sends to does not exist " +
            "| – | – | duplicated/zombie; ≠ another message: bare/rabbitmq | – | – | – |"));
        Assert.That(lines, Does.Contain(
            "| `database-away`: the database server goes down when 5 % of a drain has been attempted, and comes back after a while " +
            "| – | duplicated/once; ≠ clean-error: bare/rabbitmq | – | torn/zombie/lost/clean-error/once; on a broker torn/zombie/clean-error/once | – | – |"));
        Assert.That(lines[^1], Does.StartWith("From [results/faults](../results/faults/guarantees.md), over every framework and transport."));
    }

    [Test]
    public void Show_what_a_broker_redelivered()
    {
        Fault[] crashes = [Fault.RestartBroker, Fault.RestartBrokerHalfway, Fault.RestartBrokerLate];
        repository.SaveExperiments(
            "results/crashes",
            [
                .. crashes.Index().Select(crash => Crash("dtc-off", crash.Item, returned: 1_000 + crash.Index, doubled: 1_010 + crash.Index)),
                .. crashes.Select(crash => Crash("outbox", crash, returned: 1_500, doubled: 0)),
            ]);

        Assert.That(
            repository.Made("broker-crashes from results/crashes"),
            Does.EndWith(
                " at 5 %, half and 90 % of a drain of 3,000 messages. The bare endpoint in `dtc-off` handled again 1,000, 1,001 and 1,002 of the " +
                "1,000, 1,001 and 1,002 messages whose handler had returned, and doubled 1,010, 1,011 and 1,012; `outbox` doubled 0, 0 and 0."));
    }

    [TestCase("faults", "its folders hold no experiment with a single fault.")]
    [TestCase("broker-crashes", "its folders hold no experiment bare/rabbitmq/dtc-off restart-broker.")]
    public void Need_their_experiments(string block, string message)
    {
        repository.SaveStorms("results/storms");

        Assert.That(() => repository.Made($"{block} from results/storms"), Throws.TypeOf<KitException>().With.Message.Contains(message));
    }

    private static FaultResult Of(
        string mode, string transport, Fault fault, FaultVerdict verdict, IReadOnlyList<DeliveryClass> promised, IReadOnlyList<DeliveryClass> observed) =>
        new()
        {
            Cell = InventedRun.Cell(mode, transport: transport),
            Fault = fault.Name,
            Verdict = verdict,
            Promised = promised,
            Observed = [.. observed.Select(seen => new Observation(seen, 1))],
            Counts = observed.ToDictionary(seen => seen, _ => 1),
        };

    private static FaultResult Crash(string mode, Fault crash, int returned, int doubled) =>
        Of(mode, "rabbitmq", crash, FaultVerdict.Kept, [DeliveryClass.Duplicated, DeliveryClass.Once], [DeliveryClass.Once]) with
        {
            Counts = new Dictionary<DeliveryClass, int> { [DeliveryClass.Duplicated] = doubled, [DeliveryClass.Once] = 3_000 - doubled },
            HandledAgain = new HandledAgain(returned, mode == "dtc-off" ? returned : 0),
        };
}
