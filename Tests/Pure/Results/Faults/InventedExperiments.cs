using Kit.Guarantees;
using Kit.Modes;
using Kit.Runner.Results;
using Kit.Runner.Results.Accounts;
using Kit.Runner.Results.Faults;
using Kit.Runner.Results.Points;

namespace Kit.Tests.Results.Faults;

/// <summary>Results that nobody found: one of each verdict, and a storm.</summary>
internal static class InventedExperiments
{
    private static readonly CellName Full = InventedRun.Cell("full-dtc");
    private static readonly CellName Off = InventedRun.Cell("transactions-off");

    public static FaultDocument Document => new()
    {
        CommandLine = "faults --framework bare",
        StartedUtc = new DateTimeOffset(2026, 3, 1, 12, 0, 0, TimeSpan.Zero),
        Commit = InventedRun.Document.Commit,
        Host = InventedRun.Document.Host,
        Packages = InventedRun.Document.Packages,
        Servers = new Dictionary<string, string> { ["PostgreSQL"] = "17.2" },
        LeftOut = [new CellLeftOut(InventedRun.Cell("full-dtc", transport: "rabbitmq"), "AMQP has no prepare")],
        Speeds = new SpeedSource("results/reference", InventedRun.Document.Commit, new Dictionary<string, double> { [Full.ToString()] = 2_028.4 }),
    };

    public static IReadOnlyList<FaultResult> Results =>
    [
        Kept(Off, Fault.KillBeforeCommit, [DeliveryClass.Lost], (DeliveryClass.Once, 20), (DeliveryClass.Lost, 1)),
        Kept(Full, Fault.KillBeforeCommit, [DeliveryClass.Once], (DeliveryClass.Once, 21)),
        Kept(Full, Fault.ThrowAfterInsert, [DeliveryClass.Once], (DeliveryClass.Once, 20), (DeliveryClass.Duplicated, 1)) with
        {
            Verdict = FaultVerdict.Broken,
            Observed = [new Observation(DeliveryClass.Duplicated, 1)],
            Violations = [new Violation(Guid.Empty, "message 1 is duplicated; allowed: once", ["sent: acked", "row 1 | row 2"])],
            ViolationCount = 1,
        },
        Kept(Off, Fault.FailedDispatch, [DeliveryClass.Zombie], (DeliveryClass.Once, 19), (DeliveryClass.Duplicated, 1), (DeliveryClass.Zombie, 1)) with
        {
            Verdict = FaultVerdict.Broken,
            Violations =
            [
                new Violation(Guid.Empty, "message 2 is duplicated; allowed: once", ["row 3 | row 4"])
                    { Known = "its neighbour closes their channel (driver 1.2)" },
            ],
            ViolationCount = 1,
        },
        Kept(Off, Fault.ThrowAfterInsert, [DeliveryClass.Torn, DeliveryClass.Zombie], (DeliveryClass.Once, 20), (DeliveryClass.Torn, 1)) with
        {
            Observed = [new Observation(DeliveryClass.Torn, 1), new Observation(DeliveryClass.Zombie, 1)],
        },
        new() { Cell = Full, Fault = Fault.RestartBroker.Name, Verdict = FaultVerdict.NoWindow, Because = "the transport has no broker" },
        new() { Cell = Off, Fault = Fault.RestartBroker.Name, Verdict = FaultVerdict.NoWindow, Because = "the transport has no broker" },
        new() { Cell = Full, Fault = Fault.CutAtCommit.Name, Verdict = FaultVerdict.Void, Because = "the fault did not fire" },
        new() { Cell = Off, Fault = Fault.CutAtCommit.Name, Verdict = FaultVerdict.Failed, Because = "disk full" },
        Storm(Full, (DeliveryClass.Once, 2_000)),
        Storm(Off, (DeliveryClass.Once, 1_987), (DeliveryClass.Lost, 9), (DeliveryClass.Zombie, 4)),
    ];

    private static FaultResult Kept(
        CellName cell, Fault fault, IReadOnlyList<DeliveryClass> promised,
        params (DeliveryClass Class, int Messages)[] counts) =>
        new()
        {
            Cell = cell,
            Fault = fault.Name,
            Verdict = FaultVerdict.Kept,
            Promised = promised,
            Observed = [new Observation(counts[^1].Class, 1)],
            Counts = counts.ToDictionary(count => count.Class, count => count.Messages),
            Fired = ["it fired"],
            Seconds = 5.25,
        };

    public static FaultResult Storm(CellName cell, params (DeliveryClass Class, int Messages)[] counts) => new()
    {
        Cell = cell,
        Fault = StormFacts.Name,
        Verdict = FaultVerdict.Kept,
        Promised = [.. FaultPromise.Always(TransactionMode.Parse(cell.Mode), isBroker: false).Classes.Order()],
        Observed = [.. counts.Select(count => new Observation(count.Class, count.Messages))],
        Counts = counts.ToDictionary(count => count.Class, count => count.Messages),
        Seconds = 31.5,
        Storm = new StormFacts(Seed: 7, Kills: 5, Cuts: 5, InFlight: 20) { Touched = 19, MostTouched = 20, RestartMilliseconds = [2.5, 900, 1_200.5] },
    };
}
