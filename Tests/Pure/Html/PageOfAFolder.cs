using Kit.Guarantees;
using Kit.Runner.CommandLine;
using Kit.Runner.Html;
using Kit.Runner.Results;
using Kit.Runner.Results.Accounts;
using Kit.Runner.Results.Faults;
using Kit.Runner.Results.Pages;
using Kit.Runner.Results.Points;
using Kit.Runner.Results.Views;

namespace Kit.Tests.Html;

/// <summary>Pages of folders that never happened.</summary>
public sealed class PageOfAFolder
{
    private static readonly GitCommit Build = new("0123456789abcdef0123456789abcdef01234567", Dirty: false);

    private TemporaryFolder temporary = null!;

    [SetUp]
    public void MakeFolder() => temporary = new TemporaryFolder();

    [TearDown]
    public void RemoveFolder() => temporary.Dispose();

    [Test]
    public async Task An_existing_page_is_left_as_it_is()
    {
        var content = PageOf.ContentOf(Stored(withRun: true), []);
        var file = temporary.Below("page", "index.html");
        await PageOf.WriteAsync(content, file, mayReplace: false, TextWriter.Null);
        var made = Directory.GetFiles(temporary.Below("page"), "*", SearchOption.AllDirectories).Select(Path.GetFileName);
        await File.WriteAllTextAsync(file, "mine");

        Assert.That(
            async () => await PageOf.WriteAsync(content, file, mayReplace: false, TextWriter.Null),
            Throws.TypeOf<KitException>().With.Message.EqualTo($"{file} already exists.").And.Property(nameof(KitException.Remedy)).Contains("--replace"));
        Assert.That(await File.ReadAllTextAsync(file), Is.EqualTo("mine"));

        await PageOf.WriteAsync(content, file, mayReplace: true, TextWriter.Null);
        Assert.That(await File.ReadAllTextAsync(file), Does.StartWith("<!DOCTYPE html>"));
        Assert.That(
            made, Is.EquivalentTo(new[] { "index.html", "results.json", "bare.postgresql.full-dtc.ado.svg", "bare.postgresql.transactions-off.ado.svg" }));
    }

    [TestCase("results.json")]
    [TestCase("badges/bare.postgresql.full-dtc.ado.svg")]
    public void An_existing_file_next_to_it_is_left_as_it_is_and_no_page_is_written(string name)
    {
        var existing = temporary.Below("page", name);
        Directory.CreateDirectory(Path.GetDirectoryName(existing)!);
        File.WriteAllText(existing, "mine");

        Assert.That(
            async () => await PageOf.WriteAsync(
                PageOf.ContentOf(Stored(withRun: true), []), temporary.Below("page", "index.html"), mayReplace: false, TextWriter.Null),
            Throws.TypeOf<KitException>().With.Message.Contains("already exists"));
        Assert.That(temporary.Below("page", "index.html"), Does.Not.Exist);
        Assert.That(File.ReadAllText(existing), Is.EqualTo("mine"));
    }

    [Test]
    public async Task A_cell_that_has_no_badge_now_keeps_none_of_an_earlier_page()
    {
        var content = PageOf.ContentOf(Stored(withRun: true), []);
        var file = temporary.Below("page", "index.html");
        await PageOf.WriteAsync(content, file, mayReplace: false, TextWriter.Null);
        var badge = temporary.Below("page", "badges", "bare.postgresql.full-dtc.ado.svg");
        File.Copy(badge, temporary.Below("page", "badges", "rebus.postgresql.shared.ado.next-delivery.svg"));
        await File.WriteAllTextAsync(temporary.Below("page", "badges", "mine.svg"), "<svg><title>mine, commit</title></svg>");

        await PageOf.WriteAsync(content, file, mayReplace: true, TextWriter.Null);

        Assert.That(
            Directory.GetFiles(temporary.Below("page", "badges")).Select(Path.GetFileName),
            Is.EquivalentTo(new[] { "bare.postgresql.full-dtc.ado.svg", "bare.postgresql.transactions-off.ado.svg", "mine.svg" }));
    }

    [Test]
    public async Task A_picture_that_cannot_be_read_is_named()
    {
        var picture = temporary.Below("page", "badges", "mine.svg");
        Directory.CreateDirectory(Path.GetDirectoryName(picture)!);
        await using var held = new FileStream(picture, FileMode.Create, FileAccess.Write, FileShare.None);

        Assert.That(
            async () => await PageOf.WriteAsync(
                PageOf.ContentOf(Stored(withRun: true), []), temporary.Below("page", "index.html"), mayReplace: true, TextWriter.Null),
            Throws.TypeOf<KitException>().With.Message.StartsWith($"Cannot read {picture}: "));
    }

    [Test]
    public async Task What_a_folder_says_is_text_and_no_markup()
    {
        const string hostile = "</script><script>alert(1)</script><b onclick=\"x\">&'";
        var folder = RunFolder.Create(temporary.Below("run"), InventedRun.Document with { CommandLine = hostile, Ending = RunEnding.Running });
        foreach (var round in InventedRun.Rounds)
        {
            folder.Save(round with
            {
                Cell = new(round.Cell.Values.Select(value => value.Axis == "access" ? ("access", "a<b>\"&") : value)),
                Outcome = round.Outcome.IsValid() ? round.Outcome : RoundOutcome.Invalid([hostile]),
            });
        }

        var html = await HtmlPage.RenderAsync(PageOf.ContentOf(ResultFolder.Load(folder.Location), []));

        Assert.That(html, Does.Not.Contain("alert(1)</script>").And.Not.Contain("<b onclick").And.Not.Contain("a<b>"));
        Assert.That(html, Does.Contain("&lt;/script&gt;").And.Contain("\\u003Cb\\u003E"));
    }

    [Test]
    public void A_run_without_experiments_proves_nothing_and_says_so()
    {
        var view = ViewOf(Stored(withRun: true, withFaults: false));

        Assert.That(view.Rows, Has.All.Property(nameof(ViewRow.Loss)).EqualTo(Loss.Unproven));
        Assert.That(view.Rows, Has.All.Property(nameof(ViewRow.WhyUnproven)).EqualTo("no experiment with faults"));
        Assert.That(view.Answers[1].Text, Does.StartWith("This folder has no storm of this build"));
    }

    [Test]
    public void Experiments_of_another_build_prove_nothing()
    {
        var view = ViewOf(Stored(withRun: true, faultsOf: Build with { Id = "ffff" + Build.Id[4..] }));

        Assert.That(view.Rows, Has.All.Property(nameof(ViewRow.Loss)).EqualTo(Loss.Unproven));
        Assert.That(Row(view, "full-dtc").WhyUnproven, Is.EqualTo("its storm is of commit ffff456, and the speed of 0123456"));
        Assert.That(Row(view, "full-dtc").Faults, Is.Null);
    }

    [Test]
    public void A_build_with_uncommitted_changes_proves_nothing()
    {
        var dirty = Build with { Dirty = true };
        var view = ViewOf(Stored(withRun: true, runOf: dirty, faultsOf: dirty));

        Assert.That(view.Rows, Has.All.Property(nameof(ViewRow.Loss)).EqualTo(Loss.Unproven));
        Assert.That(view.Warnings, Has.Some.Contains("uncommitted changes"));
    }

    [Test]
    public void Rows_are_sorted_by_what_is_lost_and_then_by_speed()
    {
        var view = ViewOf(Stored(withRun: true));

        Assert.That(view.Rows.Select(row => row.Mode), Is.EqualTo(new[] { "full-dtc", "transactions-off", "dtc-off", "scope-off" }));
        Assert.That(view.Rows.Select(row => row.Loss), Is.EqualTo(new[] { Loss.Nothing, Loss.Lost, Loss.Unproven, Loss.Unproven }));
    }

    [Test]
    public async Task A_folder_with_experiments_alone_has_rows_without_a_speed_of_its_own()
    {
        var content = PageOf.ContentOf(Stored(withRun: false), []);

        Assert.That(Row(content.View, "full-dtc").Speed!.Mean.Text, Is.EqualTo("2,028"));
        Assert.That(Row(content.View, "full-dtc").Speed!.From, Does.StartWith("results/reference"));
        Assert.That(Row(content.View, "transactions-off").Speed, Is.Null);
        Assert.That(await HtmlPage.RenderAsync(content), Does.Contain("not measured here"));
    }

    [Test]
    public async Task Rounds_that_do_not_count_are_hatched()
    {
        var content = PageOf.ContentOf(Stored(withRun: true), []);
        var html = await HtmlPage.RenderAsync(content);
        var failed = content.View.Rows.SelectMany(row => row.Rounds).Where(round => !round.Counts).ToList();

        Assert.That(failed, Is.Not.Empty);
        Assert.That(CountOf("class=\"failed\"", html), Is.EqualTo(failed.Count(round => round.PerSecond.Value is not null)));
        Assert.That(CountOf("class=\"line failed\"", html), Is.EqualTo(failed.Count(round => round.Bins.Count > 0)));
        Assert.That(html, Does.Contain("round 2, INVALID, not in the average: messages lost: 1"));
    }

    [Test]
    public void Two_folders_without_a_common_cell_are_two_pages()
    {
        var run = Stored(withRun: true, withFaults: false);
        var others = new FaultFolder(temporary.Below("others"));
        others.Save(Faults(Build));
        others.Save(Storm("full-dtc") with { Cell = InventedRun.Cell("full-dtc", transport: "rabbitmq") });

        Assert.That(
            () => PageOf.ContentOf(run, [others.Location]), Throws.TypeOf<KitException>().With.Message.EndsWith("have no cell in common."));
    }

    [Test]
    public void A_further_folder_needs_experiments() => Assert.That(
        () => PageOf.ContentOf(Stored(withRun: true), [Stored(withRun: true, withFaults: false, name: "other").Location]),
        Throws.TypeOf<KitException>().With.Message.EndsWith("has no experiments with faults."));

    [Test]
    public void A_further_storm_stands_next_to_the_first()
    {
        var kills = new FaultFolder(temporary.Below("kills"));
        kills.Save(Faults(Build));
        kills.Save(Storm("full-dtc") with { Storm = new StormFacts(Seed: 1, Kills: 1_000, Cuts: 0, InFlight: 2_000) });

        var content = PageOf.ContentOf(Stored(withRun: true), [kills.Location]);

        var row = Row(content.View, "full-dtc");
        Assert.That(row.Storms.Select(storm => storm.Done), Is.EqualTo(new[] { "5 kills and 5 cuts", "1,000 kills" }));
        Assert.That(row.Storms.Select(storm => storm.AtMost), Is.EqualTo(new[] { "30 % of such kills and cuts", "0.3 % of such kills and cuts" }));
        Assert.That(row.Storms[1].Evidence.ToString(), Is.EqualTo("kills/faults.jsonl:1"));
        Assert.That(
            BadgeText.Of(row), Is.EqualTo(new BadgeText("full-dtc on bare/postgresql", "exactly once through 1,000 kills, commit 0123456", IsOnce: true)));
    }

    [Test]
    public void A_round_that_was_half_written_is_said()
    {
        var folder = Stored(withRun: true, ending: RunEnding.Running).Location;
        File.AppendAllText(Path.Combine(folder, "rounds.jsonl"), "{\"schema\":2,\"cell\"");

        Assert.That(ViewOf(ResultFolder.Load(folder)).Warnings, Has.Some.Contains("The run is not complete").And.Some.Contains("A round is left out"));
    }

    [Test]
    public void A_folder_of_another_schema_is_refused()
    {
        var folder = Stored(withRun: true).Location;
        var file = Path.Combine(folder, "run.json");
        File.WriteAllText(file, File.ReadAllText(file).Replace("\"schema\": 2", "\"schema\": 3", StringComparison.Ordinal));

        Assert.That(() => ResultFolder.Load(folder), Throws.TypeOf<KitException>().With.Message.Contains("of schema 3"));
    }

    [Test]
    public void Cells_whose_intervals_overlap_have_no_place()
    {
        var rows = ViewOf(Stored(withRun: true, withFaults: false)).Rows;

        foreach (var row in rows.Where(row => row.Place is not null))
        {
            Assert.That(
                rows.Where(other => other.Id != row.Id && other.Speed is not null),
                Has.All.Matches<ViewRow>(other => other!.Speed!.High.Value < row.Speed!.Low.Value || row.Speed.High.Value < other.Speed.Low.Value));
        }

        Assert.That(rows.Select(row => row.Place), Has.Some.Null.And.Some.Not.Null);
    }

    [Test]
    public void A_cell_whose_interval_is_apart_has_the_place_of_its_speed()
    {
        var shared = PublishedPage.View.Rows.Single(row => row.Id == "bare.postgresql.shared.ado");
        var others = PublishedPage.View.Rows.Where(row => row.Group == shared.Group && row.Loss == shared.Loss && row.Id != shared.Id).ToList();

        Assert.That(others, Is.Not.Empty.And.All.Matches<ViewRow>(other => other!.Speed!.High.Value < shared.Speed!.Low.Value));
        Assert.That(shared.Place, Is.EqualTo(1));
    }

    [Test]
    public void Every_class_of_messages_has_its_loss([Values] DeliveryClass kind) => Assert.That(
        LossOf.Storms([Storm("full-dtc") with { Observed = [new Observation(kind, 1)] }]),
        kind is DeliveryClass.Once or DeliveryClass.Recovered ? Is.EqualTo(Loss.Nothing) : Is.GreaterThan(Loss.Nothing).And.LessThan(Loss.Unproven));

    [Test]
    public void A_message_that_is_doubled_and_whose_send_is_gone_is_half_done() => Assert.That(
        LossOf.Storms(
        [
            Storm("dtc-off") with
            {
                Counts = new Dictionary<DeliveryClass, int> { [DeliveryClass.Duplicated] = 1 },
                Observed = [new Observation(DeliveryClass.Duplicated, 1), new Observation(DeliveryClass.Zombie, 1)],
            },
        ]),
        Is.EqualTo(Loss.HalfDone));

    /// <summary>It has no facts, as a command writes it.</summary>
    [Test]
    public void A_storm_that_failed_is_no_single_fault()
    {
        var row = Row(ViewOf(Stored(withRun: true, fullDtc: Storm("full-dtc").FailedAfterwards("disk full"))), "full-dtc");

        Assert.That(row.WhyUnproven, Is.EqualTo("its storm shows nothing: disk full"));
        Assert.That(row.VoidStorms, Is.EqualTo(1));
        Assert.That(row.Faults, Is.Null);
    }


    [Test]
    public async Task A_storm_that_breaks_another_promise_is_not_among_those_that_kept_all()
    {
        var content = PageOf.ContentOf(
            Stored(withRun: true, fullDtc: Storm("full-dtc") with { Verdict = FaultVerdict.Broken, ViolationCount = 1 }), []);

        var row = Row(content.View, "full-dtc");
        Assert.That(row.Loss, Is.EqualTo(Loss.AnotherPromise));
        Assert.That(row.Storms[0], Has.Property(nameof(ViewStorm.NotOnce)).Zero.And.Property(nameof(ViewStorm.AtMost)).Null);
        Assert.That(await HtmlPage.RenderAsync(content), Does.Contain(">another promise broken</a>").And.Contain(LossOf.Title(Loss.AnotherPromise)));
        Assert.That(BadgeText.Of(row).Finding, Does.StartWith("another promise broken in 5 kills"));
        Assert.That(BadgeText.Of(row).IsOnce, Is.False);
    }

    [Test]
    public void A_storm_that_shows_nothing_says_why()
    {
        var storm = Storm("full-dtc") with { Verdict = FaultVerdict.Void, Because = "it did not settle" };
        var row = Row(ViewOf(Stored(withRun: true, fullDtc: storm)), "full-dtc");

        Assert.That(row.WhyUnproven, Is.EqualTo("its storm shows nothing: it did not settle"));
        Assert.That(row.VoidStorms, Is.EqualTo(1));
        Assert.That(row.Storms, Is.Empty);
    }

    [Test]
    public async Task The_time_of_a_worker_is_divided_into_its_phases()
    {
        var content = PageOf.ContentOf(Stored(withRun: true), []);

        var time = Row(content.View, "full-dtc").Costs!.Worker!;
        var had = time.Receive.Value + time.Handler.Value + time.Commit.Value + time.Rest.Value;
        Assert.That((time.Receive.Text, time.Handler.Text, time.Commit.Text, time.SecondPhase.Text), Is.EqualTo(("0.300", "1.75", "2.50", "1.50")));
        Assert.That(had, Is.EqualTo(2_000 / Row(content.View, "full-dtc").Speed!.Mean.Value!.Value).Within(1).Percent);
        Assert.That(Row(content.View, "dtc-off").Costs!.Worker, Is.Null);
        Assert.That(await HtmlPage.RenderAsync(content), Does.Contain("aria-label=\"commit: 2.50 ms\"").And.Contain("second phase 1.50 ms"));
    }

    [Test]
    public void Every_loss_has_its_title([Values] Loss loss) => Assert.That(LossOf.Title(loss), Is.Not.Empty);

    private static int CountOf(string part, string text) => text.Split(part).Length - 1;

    private static ResultsView ViewOf(ResultFolder folder) => PageOf.ContentOf(folder, []).View;

    private static ViewRow Row(ResultsView view, string mode) => view.Rows.Single(row => row.Mode == mode);

    private ResultFolder Stored(
        bool withRun, bool withFaults = true, GitCommit? runOf = null, GitCommit? faultsOf = null, RunEnding? ending = null, string name = "stored",
        FaultResult? fullDtc = null)
    {
        var path = temporary.Below(name);
        if (withRun)
        {
            var run = RunFolder.Create(path, InventedRun.Document with { Commit = runOf ?? Build, Ending = ending ?? RunEnding.Completed });
            foreach (var round in InventedRun.Rounds)
                run.Save(round);
        }

        if (withFaults)
        {
            var faults = new FaultFolder(path);
            faults.Save(Faults(faultsOf ?? Build));
            faults.Save(fullDtc ?? Storm("full-dtc"));
            faults.Save(Storm("transactions-off") with
            {
                Counts = new Dictionary<DeliveryClass, int> { [DeliveryClass.Once] = 1_991, [DeliveryClass.Lost] = 9 },
                Observed = [new Observation(DeliveryClass.Lost, 9), new Observation(DeliveryClass.Once, 1_991)],
            });
        }

        return ResultFolder.Load(path);
    }

    private static FaultDocument Faults(GitCommit build) => new()
    {
        CommandLine = "faults --storm",
        StartedUtc = InventedRun.Document.StartedUtc,
        Commit = build,
        Host = InventedRun.Document.Host,
        Packages = InventedRun.Document.Packages,
        Speeds = new SpeedSource("results/reference", build, new Dictionary<string, double> { [InventedRun.Cell("full-dtc").ToString()] = 2_028.4 }),
    };

    private static FaultResult Storm(string mode) => new()
    {
        Cell = InventedRun.Cell(mode),
        Fault = StormFacts.Name,
        Verdict = FaultVerdict.Kept,
        Promised = [DeliveryClass.Once],
        Observed = [new Observation(DeliveryClass.Once, 2_000)],
        Counts = new Dictionary<DeliveryClass, int> { [DeliveryClass.Once] = 2_000 },
        Violations = Array.Empty<Violation>(),
        Storm = new StormFacts(Seed: 7, Kills: 5, Cuts: 5, InFlight: 20),
    };
}
