using Kit.Guarantees;
using Kit.Modes;
using Kit.Runner.Results;
using Kit.Runner.Results.Accounts;
using Kit.Runner.Results.Points;
using Kit.Tests.Results.Faults;

namespace Kit.Tests.Results.Pages;

/// <summary>The speed of each framework, next to what a storm did to its messages.</summary>
public sealed class BlocksOfFrameworks
{
    private const string Mark = "frameworks from results/run, results/storms";

    private static readonly CellName Wolverine = new(
        InventedRun.Cell("outbox").WithFramework("wolverine").Values.Append((AxisName.Polling, "often")));

    private readonly InventedRepository repository = new();

    [OneTimeTearDown]
    public void RemoveResults() => repository.Dispose();

    [SetUp]
    public void SaveResults()
    {
        if (Directory.Exists(Path.Combine(repository.Root, "results")))
            return;
        repository.SaveRun(
            "results/run",
            [
                .. InventedRepository.RoundsOf("outbox", "shared").Select(InventedRepository.Sending),
                .. InventedRepository.RoundsOf("outbox").Select(round => InventedRepository.Sending(round with { Cell = Wolverine })),
                .. InventedRepository.RoundsOf("shared"),
            ]);
        var doubled = InventedExperiments.Storm(Wolverine, (DeliveryClass.Once, 1_999), (DeliveryClass.Duplicated, 1));
        repository.SaveExperiments(
            "results/storms",
            [
                InventedRepository.StormOver("outbox"),
                doubled with
                {
                    Verdict = FaultVerdict.Broken,
                    Violations = [new Violation(MessageId: null, "one is doubled", []) { Known = "it looks into no inbox" }],
                    Storm = doubled.Storm! with { RestartMilliseconds = [900, 1_000, 3_000] },
                },
            ]);
    }

    [Test]
    public void Show_each_cell_whose_handler_sends_with_its_storm()
    {
        var lines = repository.Made(Mark).Split('\n');

        using (Assert.EnterMultipleScope())
        {
            Assert.That(lines[0], Is.EqualTo("| Cell | `insert-and-send`, msg/s | Ratio to bare | Storm | Restart p50/max, ms |"));
            Assert.That(lines, Has.One.Match(@"^\| `bare/postgresql/shared` \| .* \| 1 \| – \| – \|$"), "no storm");
            Assert.That(lines, Has.One.Match(@"^\| `bare/postgresql/outbox` \| .* \| 1 \| 0 \| 900/"));
            Assert.That(lines, Has.One.Match(@"^\| `wolverine/postgresql/outbox/often` \| .* \| 1\.00 \(.* \| 1 doubled ≠ \| 1,000/3,000 \|$"));
            Assert.That(lines[^1], Is.EqualTo("≠ `wolverine/postgresql/outbox/often`: it looks into no inbox."));
        }
    }

    [Test]
    public void Need_a_handler_that_sends()
    {
        repository.SaveRun("results/silent", InventedRepository.RoundsOf("shared"));

        Assert.That(
            () => repository.Made("frameworks from results/silent, results/storms"),
            Throws.TypeOf<KitException>().With.Message.Contains("the run in results/silent has no cell whose handler sends."));
    }
}
