using Kit.Guarantees;
using Kit.Runner.Results;
using Kit.Runner.Results.Faults;
using Kit.Runner.Results.Points;

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
                Of("outbox", "rabbitmq", Fault.RestartBroker, FaultVerdict.Kept, [DeliveryClass.Once], [DeliveryClass.Once]),
                Of("outbox", "postgresql", Fault.RestartBroker, FaultVerdict.NoWindow, [], []),
                Of("full-dtc", "postgresql", Fault.RestartBroker, FaultVerdict.NoWindow, [], []),
                Of("dtc-off", "rabbitmq", Fault.DatabaseAway, FaultVerdict.Broken, [DeliveryClass.Once], [DeliveryClass.CleanError, DeliveryClass.Once]),
                Of("scope-off", "rabbitmq", Fault.FailedDispatch, FaultVerdict.Broken, [DeliveryClass.Zombie], [DeliveryClass.Zombie]),
                Of("transactions-off", "rabbitmq", Fault.DatabaseAway, FaultVerdict.Kept, [DeliveryClass.Once], [DeliveryClass.Once]),
            ]);

        var lines = repository.Made("faults from results/faults").Split('\n');

        Assert.That(lines, Does.Contain(
            "| `restart-broker` | no window | – | – | – | – | duplicated-outgoing/once; no window on postgresql |"));
        Assert.That(lines, Does.Contain(
            "| `failed-dispatch` | – | – | duplicated/zombie; ≠ another message: bare/rabbitmq | – | – | – |"));
        Assert.That(lines, Does.Contain(
            "| `database-away` | – | duplicated/once; ≠ clean-error: bare/rabbitmq | – " +
            "| torn/zombie/lost/clean-error/once; on a broker torn/zombie/clean-error/once | – | – |"));
        Assert.That(lines[^1], Does.StartWith("From [results/faults](../results/faults/guarantees.md), over every framework and transport."));
    }

    [Test]
    public void Name_what_shows_nothing()
    {
        repository.SaveExperiments(
            "results/void",
            [
                Of("outbox", "rabbitmq", Fault.RestartBroker, FaultVerdict.Kept, [DeliveryClass.Once], [DeliveryClass.Once]),
                Of("outbox", "postgresql", Fault.RestartBroker, FaultVerdict.Void, [DeliveryClass.Once], []),
            ]);

        Assert.That(
            repository.Made("faults from results/void"),
            Does.Contain("; void: bare/postgresql |").And.EndsWith("*Void*: the experiment there shows nothing."));
    }

    [Test]
    public void Need_their_experiments()
    {
        repository.SaveStorms("results/storms");

        Assert.That(
            () => repository.Made("faults from results/storms"),
            Throws.TypeOf<KitException>().With.Message.Contains("its folders hold no experiment with a single fault."));
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
}
