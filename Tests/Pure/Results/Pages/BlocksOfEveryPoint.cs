using Kit.Guarantees;
using Kit.Runner.Results;
using Kit.Runner.Results.Faults;
using Kit.Runner.Results.Points;
using Kit.Tests.Results.Faults;

namespace Kit.Tests.Results.Pages;

/// <summary>A block that shows what became of the message at every point of a handling.</summary>
public sealed class BlocksOfEveryPoint
{
    private static readonly CrashPoint Answered = new(1, new RequestId("data", "COMMIT", "COMMIT", 1, 1), Before: null, HasAnswer: true, CanBeProved: true);

    private static readonly CellName Cell = InventedRun.Cell("dtc-off");

    private readonly InventedRepository repository = new();

    [OneTimeTearDown]
    public void RemoveResults() => repository.Dispose();

    [Test]
    public void Show_a_line_for_each_framework_and_transport()
    {
        repository.SaveExperiments(
            "results/points",
            [
                At(PointWay.NeverSent, FaultVerdict.Kept, DeliveryClass.Once), At(PointWay.Killed, FaultVerdict.Kept, DeliveryClass.Duplicated),
                At(PointWay.Cut, FaultVerdict.Broken, DeliveryClass.Lost), At(PointWay.Unanswered, FaultVerdict.Void, DeliveryClass.Once),
            ],
            InventedExperiments.Document with { Points = new Dictionary<string, IReadOnlyList<CrashPoint>> { [$"{Cell}"] = [Answered] } });

        var lines = repository.Made("every-point from results/points").Split('\n');

        Assert.That(lines[0], Is.EqualTo("|  | `dtc-off` |"));
        Assert.That(lines[2], Is.EqualTo("| bare/postgresql | 1 VOID, 1 duplicated, 1 once, 1 ≠ lost |"));
        Assert.That(lines[^1], Does.StartWith("4 experiments, from [results/points](../results/points/guarantees.md), "));
    }

    [Test]
    public void Refuse_crashes_of_the_server()
    {
        repository.SaveExperiments("results/server", [At(PointWay.ServerCrashedAfter, FaultVerdict.Kept, DeliveryClass.Once)], InventedExperiments.Document);

        Assert.That(
            () => repository.Made("every-point from results/server"),
            Throws.TypeOf<KitException>().With.Message.Contains("results/server has other experiments at the points of a handling."));
    }

    private static FaultResult At(PointWay way, FaultVerdict verdict, DeliveryClass seen) => new()
    {
        Cell = Cell,
        Fault = $"1:{way}",
        Verdict = verdict,
        Observed = [new Observation(seen, 1)],
        Point = new PointFacts($"bare.postgresql.dtc-off@1:{way}", 1, way, "COMMIT (data)"),
    };
}
