using Kit.Guarantees;
using Kit.Modes;
using Kit.Runner.Results;
using Kit.Runner.Results.Accounts;
using Kit.Runner.Results.Faults;
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
                    // More of them than are stored for one reason, and the last one for another.
                    Violations = FaultResult.StoredOf(
                        [.. Enumerable.Repeat("it looks into no inbox", 6).Select(Doubled), Zombie with { Known = "it gives up" }]),
                    ViolationCount = 7,
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
            Assert.That(lines[^1], Is.EqualTo("≠ `wolverine/postgresql/outbox/often`: it looks into no inbox; it gives up."));
        }
    }

    [Test]
    public void Say_which_storms_show_nothing_and_count_none_of_them()
    {
        var empty = InventedRepository.StormOver("outbox") with { Counts = new Dictionary<DeliveryClass, int> { [DeliveryClass.Once] = 1_800 } };
        repository.SaveExperiments(
            "results/half",
            [
                empty with { Verdict = FaultVerdict.Void, Storm = empty.Storm! with { Kills = 4 } },
                InventedRepository.StormOver("shared"),
                InventedExperiments.Storm(Wolverine, (DeliveryClass.Once, 2_000)).FailedAfterwards("disk full"),
            ]);
        repository.SaveExperiments("results/nothing", [empty with { Verdict = FaultVerdict.Void }]);

        var text = repository.Made("frameworks from results/run, results/half");

        using (Assert.EnterMultipleScope())
        {
            Assert.That(text, Does.Match(@"\| `bare/postgresql/outbox` \| .* \| void \| – \|\n"));
            Assert.That(text, Does.Match(@"\| `wolverine/postgresql/outbox/often` \| .* \| failed \| – \|\n"));
            Assert.That(text, Does.Contain("*Storm*: 2,000 messages of two rows and a send, 5 kills of the process, 5 cuts"));
            foreach (var block in new[] { "frameworks", "frameworks-chart" })
            {
                Assert.That(
                    () => repository.Made($"{block} from results/run, results/nothing"),
                    Throws.TypeOf<KitException>().With.Message.Contains("results/nothing has no storm over a cell of results/run that shows something."));
            }
        }
    }

    [Test]
    public void Name_crashes_of_servers()
    {
        var storm = InventedRepository.StormOver("outbox");
        repository.SaveExperiments("results/crashes", [storm with { Storm = storm.Storm! with { ServerCrashes = 10 } }]);

        Assert.That(
            repository.Made("frameworks from results/run, results/crashes"),
            Does.Contain(" 5 kills of the process, 5 cuts of its connections, 10 crashes of the database server. ")
                .And.Contain("of 20 such kills, cuts and crashes, fewer than 3 cause one"));
        repository.Write("docs/page.md", "<!-- block: frameworks-chart from results/run, results/crashes -->\n<!-- /block -->\n");
        Assert.That(
            repository.Make().Single(file => file.Path == "docs/frameworks.svg").Text,
            Does.Contain("Storm: kills, cuts of connections, crashes of the server."));
    }

    [Test]
    public void Are_a_picture_of_what_storms_did()
    {
        repository.Write("docs/page.md", "<!-- block: frameworks-chart from results/run, results/storms -->\n<!-- /block -->\n");

        var picture = repository.Make().Single(file => file.Path == "docs/frameworks.svg").Text;

        using (Assert.EnterMultipleScope())
        {
            Assert.That(
                picture,
                Does.Match(@"<title>Every message exactly once: bare outbox [0-9,]+\. Some rows doubled: wolverine outbox often [0-9,]+\.</title>"));
            Assert.That(picture, Does.Match("<circle cx=[^>]*>\n<text[^>]*>bare outbox</text>"), "as promised");
            Assert.That(picture, Does.Match("<circle style=[^>]*>\n<text[^>]*>wolverine outbox often</text>"), "worse than promised");
        }
    }

    [Test]
    public void Say_which_broken_promises_nobody_can_explain()
    {
        var broken = InventedExperiments.Storm(Wolverine, (DeliveryClass.Once, 1_993), (DeliveryClass.Duplicated, 5), (DeliveryClass.Zombie, 2)) with
        {
            Verdict = FaultVerdict.Broken,
            ViolationCount = 7,
        };
        string FootnoteOf(string folder, params IReadOnlyList<Violation> stored)
        {
            repository.SaveExperiments(folder, [broken with { Violations = stored }]);
            return repository.Made($"frameworks from results/run, {folder}").Split('\n')[^1];
        }

        using (Assert.EnterMultipleScope())
        {
            Assert.That(
                FootnoteOf("results/older", [.. Enumerable.Repeat("it looks into no inbox", 5).Select(Doubled)]),
                Is.EqualTo("≠ `wolverine/postgresql/outbox/often`: it looks into no inbox; the evidence of 2 zombie was not stored."));
            Assert.That(
                FootnoteOf("results/unexplained", Doubled("it looks into no inbox"), Zombie),
                Is.EqualTo("≠ `wolverine/postgresql/outbox/often`: no known limit explains all of it."));
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

    private static Violation Zombie => new(Guid.NewGuid(), "message 7 is zombie; allowed: once", []);

    private static Violation Doubled(string known) => new(Guid.NewGuid(), "message 1 is duplicated; allowed: once", []) { Known = known };
}
