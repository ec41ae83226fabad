using Kit.Guarantees;
using Kit.Modes;
using Kit.Runner.Results;
using Kit.Runner.Results.Accounts;
using Kit.Runner.Results.Points;
using Kit.Tests.Results.Faults;

namespace Kit.Tests.Results.Pages;

public sealed class BlocksOfResults
{
    private InventedRepository repository = null!;

    [SetUp]
    public void Create() => repository = new InventedRepository();

    [TearDown]
    public void Remove() => repository.Dispose();

    [Test]
    public void All_are_as_approved()
    {
        SaveAll("results/all");
        SaveGains("results/gains");
        repository.Write("docs/claims.json", Claims);
        var marks = new[]
        {
            "modes-table from results/all", "modes-chart from results/all",
            "gains from results/gains", "claims from results/all",
        };
        repository.Write("docs/page.md", string.Concat(marks.Select(mark => $"<!-- block: {mark} -->\n<!-- /block -->\n\n")));

        var files = repository.Make();

        Assert.That(files.Select(file => file.Path), Is.EqualTo(new[] { "docs/page.md", "docs/modes.svg" }));
        Approval.Verify("pages.md", files[0].Text);
        Approval.Verify("modes.svg", files[1].Text);
    }

    [Test]
    public void Come_from_one_folder_or_from_two()
    {
        SaveAll("results/all");
        repository.SaveRun("results/run", RoundsOfAll());
        repository.SaveStorms("results/storms");

        Assert.That(
            repository.Made("modes-table from results/run, results/storms").Replace("results/run", "results/all", StringComparison.Ordinal)
                .Replace("results/storms", "results/all", StringComparison.Ordinal),
            Is.EqualTo(repository.Made("modes-table from results/all")));
    }

    [Test]
    public void Edited_by_hand_they_differ()
    {
        SaveAll("results/all");
        repository.Write(
            "docs/page.md",
            "<!-- block: modes-table from results/all -->\n<!-- /block -->\n\n<!-- block: frameworks from results/all -->\n<!-- /block -->\n");
        var written = repository.Make().Single().Text;
        repository.Write("docs/page.md", written);
        Assert.That(repository.Make().Single().Differing, Is.Empty);

        repository.Write("docs/page.md", written.Replace("more than the mode promises", "less than the mode promises", StringComparison.Ordinal));

        var file = repository.Make().Single();
        Assert.That(file.Differing.Single(), Does.StartWith("docs/page.md:").And.EndsWith(": block frameworks"));
        Assert.That(file.Text, Is.EqualTo(written));
    }

    [Test]
    public void A_picture_that_was_changed_differs()
    {
        SaveAll("results/all");
        repository.Write("README.md", "<!-- block: modes-chart from results/all -->\n<!-- /block -->\n");
        foreach (var file in repository.Make())
            repository.Write(file.Path, file.Text);
        Assert.That(repository.Make().SelectMany(file => file.Differing), Is.Empty);

        repository.Write("docs/modes.svg", repository.Read("docs/modes.svg").Replace("rect", "rectangle", StringComparison.Ordinal));

        Assert.That(repository.Make().SelectMany(file => file.Differing), Is.EqualTo(new[] { "docs/modes.svg: the picture of block modes-chart" }));
    }

    [TestCase("modes-table")]
    [TestCase("frameworks")]
    [TestCase("gains")]
    public void Rounds_that_count_although_they_are_noisy_are_said(string block)
    {
        static RoundDocument Noisy(RoundDocument round) => round with { Noise = new Noise(Reading.Of(0.5), Noise.DefaultLimit, "backup") };
        if (block == "gains")
            SaveGains("results/all", round => round.Cell.Axes.Contains(AxisName.Batch) ? Noisy(round) : round);
        else
            repository.SaveRun("results/all", [.. RoundsOfAll().Select(Noisy)]);
        repository.SaveStorms("results/all");

        Assert.That(
            repository.Made($"{block} from results/all"), Does.Match("on 2 cores \\(\\*\\*(INVALID: .*)?Noisy, and counted: [0-9]+ of [0-9]+ rounds, in "));
    }

    [Test]
    public void Noise_in_cells_that_are_not_shown_is_not_said()
    {
        static Noise Of(double share) => new(Reading.Of(share), Noise.DefaultLimit, "backup");
        repository.SaveRun(
            "results/all", [.. RoundsOfAll().Select(round => round with { Noise = Of(round.Cell.Mode == "npgsql-scope" ? 0.5 : 0.01) })]);
        repository.SaveStorms("results/all");

        using (Assert.EnterMultipleScope())
        {
            Assert.That(repository.Made("modes-table from results/all"), Does.Contain("messages on 2 cores").And.Not.Contains("Noisy"));
            Assert.That(
                repository.Made("frameworks from results/all"),
                Does.Contain("Noisy, and counted: 5 of 37 rounds, in bare/postgresql/npgsql-scope/ado/insert-and-send (5 of 5)."));
        }
    }

    [Test]
    public void Of_a_storm_that_broke_a_promise_say_so_and_why()
    {
        repository.SaveRun("results/run", RoundsOfAll());
        var kept = InventedExperiments.Storm(InventedRun.Cell("dtc-off"), (DeliveryClass.Once, 1_999), (DeliveryClass.Duplicated, 1));
        var lost = InventedExperiments.Storm(InventedRun.Cell("outbox"), (DeliveryClass.Once, 1_999), (DeliveryClass.Lost, 1)) with
        {
            Verdict = FaultVerdict.Broken,
            ViolationCount = 1,
            Violations = [new Violation(Guid.NewGuid(), "message 1 is lost; allowed: once", [])],
        };
        repository.SaveExperiments(
            "results/broken", [kept, lost, .. InventedRepository.Shown.Except(["dtc-off", "outbox"]).Select(InventedRepository.StormOver)]);

        var text = repository.Made("modes-table from results/run, results/broken");

        using (Assert.EnterMultipleScope())
        {
            Assert.That(text, Does.Match(@"\| `dtc-off` \| .* \| 1 doubled \| ").And.Match(@"\| `outbox` \| .* \| 1 lost ≠ \| "));
            Assert.That(text, Does.Contain(" ≠: more than the mode promises. From "));
            Assert.That(text, Does.EndWith("\n\n≠ `bare/postgresql/outbox`: no known limit explains all of it."));
        }
    }

    [Test]
    public void Storms_of_a_build_with_uncommitted_changes_are_of_another_build()
    {
        repository.SaveRun("results/run", RoundsOfAll(), InventedRun.Document with { Commit = InventedRun.Document.Commit! with { Dirty = false } });
        repository.SaveStorms("results/storms");

        Assert.That(repository.Made("modes-table from results/run, results/storms"), Does.Contain(" of another build; mean"));
    }

    [Test]
    public void A_quick_run_and_one_in_memory_say_so()
    {
        SaveGains("results/run");
        var document = repository.Read("results/run/run.json");
        repository.Write("results/run/run.json", document.Replace("\"quick\": false", "\"quick\": true", StringComparison.Ordinal));

        Assert.That(repository.Made("gains from results/run"), Does.Contain("on 2 cores, quick: it shows that it works, not how fast it is."));
    }

    [Test]
    public void Gains_of_two_transports_are_an_error()
    {
        SaveGains("results/gains", round => round.Cell.Mode == "shared"
            ? round with { Cell = round.Cell.With(AxisName.Transport, "postgresql-apart") }
            : round);

        Assert.That(() => repository.Made("gains from results/gains"), Throws.TypeOf<KitException>().With.Message.Contains(
            "the cells of the run in results/gains differ in more than mode, flush and batch."));
    }

    [Test]
    public void Pages_without_blocks_and_what_a_build_made_are_left_alone()
    {
        repository.Write("docs/plain.md", "# Nothing\n");
        repository.Write("Runner/bin/README.md", "<!-- block: unknown -->\n");
        repository.Write("results/mine/tables.md", "<!-- block: unknown -->\n");

        Assert.That(repository.Make(), Is.Empty);
    }

    private const string Claims =
        """
        [
          {
            "framework": "bare", "version": "Invented 1.0", "mode": "transactions-off", "claim": "it loses nothing",
            "link": "https://example.com/claims", "experiment": "bare/postgresql/transactions-off storm"
          },
          {
            "framework": "bare", "version": "Invented 1.0", "mode": "shared", "claim": "it is fine",
            "link": "https://example.com/claims", "experiment": "bare/postgresql/shared kill-before-commit"
          }
        ]
        """;

    private void SaveAll(string folder)
    {
        repository.SaveRun(folder, RoundsOfAll());
        repository.SaveStorms(folder);
    }

    /// <summary>Each setting takes half of the default's time; nobody flushes less in <c>full-dtc</c>.</summary>
    private void SaveGains(string folder, Func<RoundDocument, RoundDocument>? change = null)
    {
        (string Mode, string Axis, string Value)[] settings =
            [("full-dtc", AxisName.Batch, "10"), ("shared", AxisName.Flush, "none"), ("shared", AxisName.Batch, "10")];
        var faster = settings.SelectMany(setting => InventedRepository.RoundsOf(setting.Mode).Select((round, index) =>
            InventedRun.Round(setting.Mode, index + 1, seconds: (1 + (0.1 * (index + 1))) / 2) with
            {
                Cell = new CellName(round.Cell.Values.Append((setting.Axis, setting.Value))),
            }));
        repository.SaveRun(
            folder, [.. InventedRepository.RoundsOf("full-dtc", "shared").Concat(faster).Select(change ?? (round => round))],
            InventedRun.Document with { Implied = new Dictionary<string, string> { [AxisName.Flush] = "every", [AxisName.Batch] = "1" } });
    }

    private static IReadOnlyList<RoundDocument> RoundsOfAll() =>
        [.. InventedRepository.RoundsOf([.. InventedRepository.Shown, "full-dtc-waiting", "npgsql-scope"]).Select(InventedRepository.Sending)];
}
