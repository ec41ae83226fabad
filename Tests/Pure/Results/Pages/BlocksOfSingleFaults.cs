using Kit.Guarantees;
using Kit.Runner.Results;
using Kit.Runner.Results.Faults;
using Kit.Runner.Results.Points;

namespace Kit.Tests.Results.Pages;

/// <summary>Blocks that show single faults by mode: promises, what broke them, and where they were tried.</summary>
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
                Of("outbox", "rabbitmq", Fault.RestartBroker, FaultVerdict.Kept, OnceOrSentTwice, [DeliveryClass.Once]),
                Of("outbox", "postgresql", Fault.RestartBroker, FaultVerdict.NoWindow, [], []),
                Of("full-dtc", "postgresql", Fault.RestartBroker, FaultVerdict.NoWindow, [], []),
                Of(
                    "dtc-off", "rabbitmq", Fault.DatabaseAway, FaultVerdict.Broken, [DeliveryClass.Duplicated, DeliveryClass.Once],
                    [DeliveryClass.CleanError, DeliveryClass.Once]),
                Of(
                    "scope-off", "rabbitmq", Fault.FailedDispatch, FaultVerdict.Broken, [DeliveryClass.Duplicated, DeliveryClass.Zombie],
                    [DeliveryClass.Zombie]),
                Of("outbox", "postgresql", Fault.ReceiveLost, FaultVerdict.Kept, [DeliveryClass.Once], [DeliveryClass.Once]),
                Of("outbox", "rabbitmq", Fault.ReceiveLost, FaultVerdict.Kept, OnceOrSentTwice, [DeliveryClass.DuplicatedOutgoing]),
            ]);

        var lines = repository.Made("faults from results/faults").Split('\n');

        Assert.That(lines, Does.Contain(
            "| `restart-broker` | no window | – | – | – | – | duplicated-outgoing/once; no window on postgresql |"));
        Assert.That(lines, Does.Contain(
            "| `failed-dispatch` | – | – | duplicated/zombie; ≠ another message: bare/rabbitmq | – | – | – |"));
        Assert.That(lines, Does.Contain("| `database-away` | – | duplicated/once; ≠ clean-error: bare/rabbitmq | – | – | – | – |"));
        Assert.That(lines, Does.Contain("| `receive-lost` | – | – | – | – | – | once on postgresql; duplicated-outgoing/once on rabbitmq |"));
    }

    [Test]
    public void Name_where_they_were_tried_and_nothing_else()
    {
        FaultResult Once(string framework, string transport, string mode, Fault fault) =>
            Of(mode, transport, fault, FaultVerdict.Kept, [DeliveryClass.Once], [DeliveryClass.Once]) with
            {
                Cell = InventedRun.Cell(mode, framework, transport),
            };

        repository.SaveExperiments(
            "results/places",
            [
                Once("masstransit", "rabbitmq", "dtc-off", Fault.SwallowedError),
                Once("bare", "rabbitmq", "dtc-off", Fault.SwallowedError),
                Once("bare", "postgresql", "dtc-off", Fault.SwallowedError),
                Once("bare", "postgresql", "dtc-off", Fault.KillBeforeCommit),
                Once("bare", "postgresql", "outbox", Fault.SwallowedError),
                Once("bare", "postgresql", "outbox", Fault.KillBeforeCommit),
                Once("bare", "rabbitmq", "outbox", Fault.KillBeforeCommit),
                // Neither is in the table.
                Once("rebus", "postgresql", "outbox", Fault.Poison),
                Once("wolverine", "postgresql", "npgsql-scope", Fault.KillBeforeCommit),
            ]);

        var lines = repository.Made("faults from results/places").Split('\n');

        using (Assert.EnterMultipleScope())
        {
            Assert.That(lines[2], Is.EqualTo("| *tried on* | – | all | – | – | – | bare/postgresql, bare/rabbitmq |"));
            Assert.That(lines, Does.Contain("| `kill-before-commit` | – | once; tried on bare/postgresql alone | – | – | – | once |"));
            Assert.That(lines, Does.Contain("| `swallowed-error` | – | once | – | – | – | once; tried on bare/postgresql alone |"));
            Assert.That(
                lines[^1],
                Does.StartWith(
                    "From [results/places](../results/places/guarantees.md), over bare/postgresql, bare/rabbitmq, masstransit/rabbitmq (*all*). ")
                    .And.Not.Contains("every"));
        }
    }

    [TestCase(DeliveryClass.DuplicatedOutgoing, "once; ≠ duplicated-outgoing: bare/postgresql")]
    [TestCase(DeliveryClass.Once, "once")]
    public void That_kept_an_older_promise_are_judged_by_todays(DeliveryClass observed, string shown)
    {
        repository.SaveExperiments(
            $"results/older-{observed}",
            [Of("outbox", "postgresql", Fault.KillBeforeDispatch, FaultVerdict.Kept, OnceOrSentTwice, [observed])]);

        Assert.That(
            repository.Made($"faults from results/older-{observed}").Split('\n'),
            Does.Contain($"| `kill-before-dispatch` | – | – | – | – | – | {shown} |"));
    }

    [Test]
    public void That_cannot_be_judged_by_todays_promise_are_refused()
    {
        repository.SaveExperiments(
            "results/broken-then",
            [Of("outbox", "postgresql", Fault.KillBeforeDispatch, FaultVerdict.Broken, [DeliveryClass.Zombie], [DeliveryClass.Once])]);
        repository.SaveExperiments(
            "results/of-either",
            [Of("outbox", "postgresql", Fault.ReceiveLost, FaultVerdict.Kept, [DeliveryClass.Zombie], [DeliveryClass.Zombie])]);

        using (Assert.EnterMultipleScope())
        {
            Assert.That(
                () => repository.Made("faults from results/broken-then"),
                Throws.TypeOf<KitException>().With.Message.Contains(
                    "bare.postgresql.outbox.ado.kill-before-dispatch was broken by the promise zombie, and today's is once."));
            Assert.That(
                () => repository.Made("faults from results/of-either"),
                Throws.TypeOf<KitException>().With.Message.Contains(
                    "receive-lost was kept by the promise zombie, and today's is once, on a broker duplicated-outgoing/once."));
        }
    }

    [Test]
    public void Name_what_shows_nothing()
    {
        repository.SaveExperiments(
            "results/void",
            [
                Of("outbox", "rabbitmq", Fault.RestartBroker, FaultVerdict.Kept, OnceOrSentTwice, [DeliveryClass.Once]),
                Of("outbox", "postgresql", Fault.RestartBroker, FaultVerdict.Void, OnceOrSentTwice, []),
                Of("shared", "postgresql", Fault.KillBeforeCommit, FaultVerdict.Failed, [], []),
            ]);

        Assert.That(
            repository.Made("faults from results/void"),
            Does.Contain("; void: bare/postgresql |").And.Contain("| – | void: bare/postgresql | – |")
                .And.EndsWith("*Void*: the experiment there shows nothing."));
    }

    [Test]
    public void Need_their_experiments()
    {
        repository.SaveStorms("results/storms");

        Assert.That(
            () => repository.Made("faults from results/storms"),
            Throws.TypeOf<KitException>().With.Message.Contains("its folders hold no experiment with a single fault."));
    }

    private static IReadOnlyList<DeliveryClass> OnceOrSentTwice => [DeliveryClass.DuplicatedOutgoing, DeliveryClass.Once];

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
