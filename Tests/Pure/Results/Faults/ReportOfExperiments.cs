using System.Text.Json;
using Kit.Guarantees;
using Kit.Runner.Results;
using Kit.Runner.Results.Accounts;
using Kit.Runner.Results.Faults;
using Kit.Runner.Results.Points;

namespace Kit.Tests.Results.Faults;

/// <summary>Experiments that are less, or more, than those of every day.</summary>
public sealed class ReportOfExperiments
{
    private static readonly FaultDocument Document = InventedExperiments.Document;
    private static readonly FaultResult Kept = InventedExperiments.Results.First(result => result is { Verdict: FaultVerdict.Kept, Storm: null });
    private static readonly FaultResult Storm = InventedExperiments.Results.First(result => result.Storm is not null);
    private static readonly GitCommit Clean = new(new string('a', 40), Dirty: false);

    [Test]
    public void A_violation_without_a_message_is_no_message_that_was_not_promised() => Assert.That(
        (InventedExperiments.Results[0] with { Violations = [new Violation(null, "too many", []), new Violation(Guid.Empty, "lost", [])], ViolationCount = 2 })
            .MessagesNotPromised,
        Is.EqualTo(1));

    [Test]
    public void Many_violations_without_a_message_are_no_messages_either()
    {
        using var temporary = new TemporaryFolder();
        var folder = new FaultFolder(temporary.Path);
        var prepared = Enumerable.Range(1, 20)
            .Select(number => new Violation(MessageId: null, $"prepared transaction {number} cannot be assigned to one message", [])).ToList();
        var doubled = new Violation(Guid.Empty, "message 1 is duplicated; allowed: once", []);
        folder.Save(Kept.With(prepared) with { Fault = "without" });
        folder.Save(Kept.With([.. prepared, doubled, doubled with { Because = "message 1 is zombie; allowed: once" }]) with { Fault = "with" });

        Assert.That(
            folder.LoadResults().Select(result => (result.Fault, result.ViolationCount, result.MessagesNotPromised)),
            Is.EquivalentTo([("without", 20, 0), ("with", 22, 1)]));
    }

    [Test]
    public void Without_a_run_to_take_speeds_from_say_how_to_name_one() =>
        Assert.That(LinesOf(Document with { Speeds = null }, Kept), Has.Some.EqualTo("- msg/s: no run is named; name one with --speed-from"));

    [Test]
    public void With_speeds_of_the_same_clean_build_are_without_a_warning() =>
        Assert.That(
            SpeedsOf(Clean, Clean),
            Is.EqualTo(
                "- msg/s: means of the fault-free run results/reference, whose handler inserts one row and sends nothing, " +
                "which is less than the experiments' handler does, commit aaaaaaaaaaaa"));

    [Test]
    public void With_speeds_of_another_build_or_of_one_that_nobody_can_name_warn()
    {
        var dirty = Clean with { Dirty = true };
        var other = new GitCommit(new string('b', 40), Dirty: false);

        foreach (var (own, speeds) in new (GitCommit?, GitCommit?)[]
        {
            (Clean, other), (Clean, dirty), (dirty, Clean), (dirty, dirty), (null, Clean), (Clean, null), (null, null),
        })
            Assert.That(SpeedsOf(own, speeds), Does.EndWith(" – not the build of these experiments"), $"{own} {speeds}");
        Assert.That(SpeedsOf(Clean, null), Does.Contain("commit unknown"));
    }

    [Test]
    public void On_a_users_own_servers_name_none_of_the_kits() =>
        Assert.That(LinesOf(Document with { Servers = new Dictionary<string, string>() }, Kept), Has.None.StartsWith("- Servers"));

    [Test]
    public void Of_nothing_have_a_head_alone() =>
        Assert.That(LinesOf(Document with { LeftOut = [] }).Where(line => line.StartsWith('#')), Is.EqualTo(["# Guarantees, 2026-03-01 12:00:00 UTC"]));

    [Test]
    public void Are_in_the_order_of_framework_transport_mode_and_fault()
    {
        FaultResult Of(string framework, string transport, string mode, Fault fault) => Kept with
        {
            Cell = new CellName(("framework", framework), ("transport", transport), ("mode", mode), ("access", "ado")),
            Fault = fault.Name,
        };

        using var csv = new StringWriter { NewLine = "\n" };
        new GuaranteeReport(
            Document,
            [
                Of("masstransit", "rabbitmq", "dtc-off", Fault.Poison),
                Of("bare", "rabbitmq", "dtc-off", Fault.Poison),
                Of("bare", "postgresql", "outbox", Fault.Poison),
                Of("bare", "postgresql", "full-dtc", Fault.Poison),
                Of("bare", "postgresql", "full-dtc", Fault.ThrowAfterInsert),
            ]).WriteCsv(csv);

        Assert.That(
            csv.ToString().Split('\n').Skip(1).SkipLast(1).Select(line => string.Join(' ', line.Split(',').Where((_, column) => column is 0 or 1 or 2 or 5))),
            Is.EqualTo(
            [
                "bare postgresql full-dtc throw-after-insert", "bare postgresql full-dtc poison", "bare postgresql outbox poison",
                "bare rabbitmq dtc-off poison", "masstransit rabbitmq dtc-off poison",
            ]));
    }

    [TestCase(3, 4, 0, "kills of the handler process, cuts of its connections")]
    [TestCase(3, 0, 5, "kills of the handler process, crashes of the database server")]
    [TestCase(0, 0, 5, "crashes of the database server")]
    public void A_table_of_storms_names_the_faults_that_they_had(int kills, int cuts, int crashes, string named)
    {
        var storm = Storm with { Storm = Storm.Storm! with { Kills = kills, Cuts = cuts, ServerCrashes = crashes } };

        Assert.That(LinesOf(Document, storm), Has.One.EqualTo($"## Storms: {named}"));
    }

    [Test]
    public void Of_a_storm_over_two_phase_commit_say_where_the_kills_met_it() => Assert.That(
        LinesOf(Document, Storm with { Storm = Storm.Storm! with { Kills = 1_000, Windows = new WindowsMet(4, 3, 2, 1) } }),
        Has.Some.EqualTo(
            $"- {Storm.Name}: 1,000 kills; windows met (a kill can meet one for each worker): " +
            "4 before prepare, 3 prepared, 2 decided (second phase outstanding), 1 none open"));

    /// <summary>Two workers that one kill meets are one chance, and a kill that meets no message is none.</summary>
    [Test]
    public void Of_a_storm_over_two_phase_commit_count_the_kills_that_met_a_message()
    {
        var facts = new StormFacts(42, Kills: 1_000, Cuts: 0, InFlight: 2_000, new WindowsMet(900, 700, 125, NoneOpen: 18));

        Assert.That((facts.Chances, facts.UpperBound), Is.EqualTo((982, (double?)(3.0 / 982))));
        Assert.That((facts with { Cuts = 1 }).Chances, Is.EqualTo(1_001), "nobody looked at what a cut met");
    }

    [Test]
    public void Of_a_storm_that_touched_too_many_say_the_number_and_no_single_message()
    {
        var facts = Storm.Storm! with { Touched = 25, MostTouched = 20 };
        var broken = Storm with
        {
            Verdict = FaultVerdict.Broken,
            Fired = ["5 kills and 5 cuts"],
            Storm = facts,
            Violations = [facts.TooMany!],
            ViolationCount = 1,
        };

        Assert.That(
            LinesOf(Document, broken),
            Has.Some.EqualTo($"- {broken.Name}: 5 kills and 5 cuts").And.Some.EqualTo(
                $"- {broken.Name}: 25 messages were not handled exactly once; 5 kills and 5 cuts of all connections may affect 20"));
    }

    [Test]
    public void Of_a_storm_without_a_fault_have_no_rates() => Assert.That(
        LinesOf(Document, Storm with { Storm = Storm.Storm! with { Kills = 0, Cuts = 0 } }),
        Has.Some.EqualTo("| bare | postgresql | full-dtc | 0 | – | – | – | – | – | – | – | 19 | 20 | 900 | 1,200 | 7 | kept |"));

    [Test]
    public void Of_a_storm_by_an_older_kit_have_no_time_of_a_restart()
    {
        var older = JsonSerializer.Deserialize<FaultResult>(
            JsonSerializer.Serialize(Storm, ResultJson.Lines).Replace("restartMilliseconds", "recoveryMilliseconds", StringComparison.Ordinal),
            ResultJson.Lines)!;

        Assert.That(LinesOf(Document, older), Has.Some.EndsWith("| 19 | 20 | 7 | kept |").And.None.Contains("estart"));
        Assert.That(LinesOf(Document, older, Storm with { Cell = InventedRun.Cell("dtc-off") }), Has.Some.EndsWith("| 19 | 20 | – | – | 7 | kept |"));
    }

    [Test]
    public void Of_a_storm_say_where_a_message_counts_once_and_where_in_every_class_that_fits_it()
    {
        var torn = Storm with
        {
            Counts = new Dictionary<DeliveryClass, int> { [DeliveryClass.Duplicated] = 10, [DeliveryClass.Torn] = 4 },
            Observed = [new Observation(DeliveryClass.Torn, 4), new Observation(DeliveryClass.Duplicated, 14)],
        };

        var lines = LinesOf(Document, torn);

        Assert.That(lines, Has.Some.Contains("| 0 | 0 | 10 | 0 |").And.Some.Contains("| 1.40 |"), "10 of 14 are doubled and not torn; 14 / 10");
        Assert.That(lines, Has.Some.Contains("Each message is counted once, in the first class that fits it (unexpected, torn, ").And.Some.Contains(
            "A message counts in every class that fits it, so these numbers can be higher than those of the table above"));
    }

    [Test]
    public void Name_a_message_that_is_doubled_and_whose_send_is_gone_as_both()
    {
        var doubled = Storm with
        {
            Counts = new Dictionary<DeliveryClass, int> { [DeliveryClass.Duplicated] = 5, [DeliveryClass.Torn] = 4, [DeliveryClass.Once] = 1_991 },
            Observed =
            [
                new Observation(DeliveryClass.Torn, 4), new Observation(DeliveryClass.Duplicated, 6), new Observation(DeliveryClass.Zombie, 2),
                new Observation(DeliveryClass.Once, 1_991),
            ],
        };
        // Half of a handler's work is no milder than work without its send.
        var torn = doubled with { Counts = new Dictionary<DeliveryClass, int> { [DeliveryClass.Torn] = 9, [DeliveryClass.Once] = 1_991 } };

        using (Assert.EnterMultipleScope())
        {
            Assert.That(GuaranteeTables.NotOnceOf(doubled), Is.EqualTo("5 doubled, 4 torn, of these 2 also zombie"));
            Assert.That(GuaranteeTables.NotOnceOf(torn), Is.EqualTo("9 torn"));
            Assert.That(LinesOf(Document, doubled), Has.Some.Contains("| 1,991 | 0 | 5 | 0 | 0 | 0 + 2 | 4 | 0 | 0 | 0 | 2,000 |"));
            Assert.That(LinesOf(Document, doubled), Has.Some.Contains("After a plus are the messages that fit the class, too"));
            Assert.That(LinesOf(Document, torn), Has.None.Contains("After a plus"));
        }
    }

    [Test]
    public void Of_a_storm_that_shows_nothing_have_no_figures()
    {
        var empty = Storm with { Verdict = FaultVerdict.Void, Because = "9 of 10 faults happened" };
        var failed = Storm with { Cell = InventedRun.Cell("dtc-off") };
        var lines = LinesOf(Document, empty, failed.FailedAfterwards("disk full"));

        using (Assert.EnterMultipleScope())
        {
            Assert.That(lines, Has.One.EqualTo("## Storms: kills of the handler process, cuts of its connections"));
            Assert.That(lines, Has.Some.EqualTo(
                $"| bare | postgresql | full-dtc | 2,028 | {string.Join(" | ", Enumerable.Repeat("VOID", 11))} |"));
            Assert.That(lines, Has.Some.EqualTo($"| bare | postgresql | dtc-off | – | {string.Join(" | ", Enumerable.Repeat("FAILED", 11))} |"));
            Assert.That(lines, Has.Some.EqualTo($"| bare | postgresql | full-dtc | {string.Join(" | ", Enumerable.Repeat("–", 10))} | 7 | void |"));
            Assert.That(lines, Has.Some.EqualTo($"| bare | postgresql | dtc-off | {string.Join(" | ", Enumerable.Repeat("–", 10))} | – | failed |"));
            Assert.That(lines, Has.None.Contains("promise and observation"));
        }
    }

    [Test]
    public void Of_single_faults_count_the_messages_of_those_that_show_something()
    {
        var empty = Kept with
        {
            Fault = Fault.NetworkSilent.Name,
            Verdict = FaultVerdict.Void,
            Because = "the drain went on",
            Counts = new Dictionary<DeliveryClass, int> { [DeliveryClass.Once] = 3_000 },
        };

        Assert.That(LinesOf(Document, Kept, empty), Has.Some.EqualTo(
            "| bare | postgresql | transactions-off | – | 20 | 1 | 0 | 0 | 0 | 0 | 0 | 0 | 0 | 0 | 21 |"));
        Assert.That(LinesOf(Document, empty), Has.Some.EqualTo(
            $"| bare | postgresql | transactions-off | – | {string.Join(" | ", Enumerable.Repeat("VOID", 11))} |"));
    }

    [Test]
    public void Keep_weakened_storms_apart()
    {
        var weakened = Storm with { Cell = InventedRun.Cell("dtc-off"), Storm = Storm.Storm! with { Unflushed = "queue", ServerCrashes = 3 } };
        using var csv = new StringWriter { NewLine = "\n" };
        using var plain = new StringWriter { NewLine = "\n" };
        new GuaranteeReport(Document, [Storm, weakened]).WriteCsv(csv);
        new GuaranteeReport(Document, [Storm]).WriteCsv(plain);
        const string kills = "kills of the handler process, cuts of its connections";

        using (Assert.EnterMultipleScope())
        {
            Assert.That(
                LinesOf(Document, weakened, Storm).Where(line => line.StartsWith("## Storms", StringComparison.Ordinal)),
                Is.EqualTo(
                [
                    $"## Storms: {kills}", "## Storms: per kill or cut",
                    $"## Storms: {kills}, crashes of the database server, with synchronous_commit = off for queue",
                    "## Storms: per kill or cut, with synchronous_commit = off for queue",
                ]));
            Assert.That(csv.ToString().Split('\n')[0], Does.EndWith(",server_crashes,unflushed"));
            Assert.That(csv.ToString().Split('\n')[1..3], Has.One.EndsWith(",,").And.One.EndsWith(",3,queue"));
            Assert.That(plain.ToString(), Does.Not.Contain("server_crashes").And.Not.Contains("unflushed"));
        }
    }

    [Test]
    public void Explain_columns_that_they_have()
    {
        var lines = LinesOf(Document, Storm);
        var legend = lines.Single(line => line.StartsWith("The handler writes two rows", StringComparison.Ordinal));
        var headers = lines[lines.IndexOf(legend) - 4].Split('|', StringSplitOptions.RemoveEmptyEntries | StringSplitOptions.TrimEntries);

        var explained = legend.Split(". ").Where(sentence => sentence.Contains(": ", StringComparison.Ordinal))
            .Select(sentence => sentence.Split(": ")[0].ToLowerInvariant());

        Assert.That(explained, Is.Not.Empty.And.SubsetOf(headers));
    }

    [Test]
    public void Count_each_class_in_its_column()
    {
        var counts = Enum.GetValues<DeliveryClass>().Index().ToDictionary(kind => kind.Item, kind => 1 << kind.Index);
        var row = LinesOf(Document, Kept with { Cell = Storm.Cell, Counts = counts })
            .Single(line => line.StartsWith("| bare | postgresql | full-dtc | 2,028", StringComparison.Ordinal));

        // Once with recovered; other are stuck and unexpected.
        Assert.That(row.Split(" | ").Skip(4), Is.EqualTo(
            ["3,072", "256", "8", "64", "16", "32", "2", "4", "512", "129", "4,095 |"]));
    }

    [Test]
    public void Show_how_many_messages_met_a_fault_where_a_server_crashed_under_all()
    {
        var crashed = Kept with { Observed = [new Observation(DeliveryClass.Once, 1_990), new Observation(DeliveryClass.Duplicated, 10)] };

        Assert.That(LinesOf(Document, crashed), Has.Some.Contains(": 1,990 once+10 duplicated |"));
        Assert.That(LinesOf(Document, crashed with { Observed = [new Observation(DeliveryClass.Once, 2)] }), Has.Some.Contains(": 2 once |"));
        Assert.That(LinesOf(Document, crashed with { Observed = [new Observation(DeliveryClass.Once, 1)] }), Has.Some.Contains(": once |"));
    }

    [Test]
    public void Explain_known_only_where_something_is()
    {
        var known = InventedExperiments.Results.Single(result => result.Known is not null);

        Assert.That(LinesOf(Document, Kept), Has.None.Contains("(known)"));
        Assert.That(LinesOf(Document, known), Has.Some.Contains("(known): broken for this message or a neighbour"));
    }

    [Test]
    public void Of_a_verdict_that_nobody_described_are_refused() => Assert.That(
        () => LinesOf(Document, Kept with { Verdict = (FaultVerdict)99 }),
        Throws.TypeOf<ArgumentOutOfRangeException>().With.Message.StartsWith("No such verdict."));

    [Test]
    public void Name_each_reason_of_what_is_known_once()
    {
        Violation Known(string reason) => new(Guid.Empty, "message 1 is lost", []) { Known = reason };

        var result = Kept with { Verdict = FaultVerdict.Broken, Violations = [Known("first"), Known("second"), Known("first")] };

        Assert.That(result.Known, Is.EqualTo("first; second"));
        Assert.That((result with { Verdict = FaultVerdict.Void }).Known, Is.Null);
    }

    [TestCase(FaultVerdict.Kept, true)]
    [TestCase(FaultVerdict.NoWindow, true)]
    [TestCase(FaultVerdict.Broken, false)]
    [TestCase(FaultVerdict.Void, false)]
    [TestCase(FaultVerdict.Failed, false)]
    public void Are_good_where_a_promise_is_kept_or_there_is_nothing_to_show(FaultVerdict verdict, bool isGood) =>
        Assert.That((Kept with { Verdict = verdict }).IsGood, Is.EqualTo(isGood));

    [Test]
    public void With_the_handlers_of_scenarios_name_them()
    {
        var pass = new CellName(Kept.Cell.Values.Append(("scenario", "pass")));
        var forwarded = Kept with { Cell = pass };
        var without = new FaultResult { Cell = pass, Fault = Fault.KillAtDispatch.Name, Verdict = FaultVerdict.NoWindow, Because = "there is no row" };

        using (Assert.EnterMultipleScope())
        {
            Assert.That(LinesOf(Document, forwarded), Has.Some.StartsWith("The handler is that of the cell's scenario. Each message"));
            Assert.That(
                LinesOf(Document, Kept, forwarded),
                Has.Some.StartsWith("The handler is that of the cell's scenario; in cells without one it writes two rows and sends one message. Each message"));
            Assert.That(LinesOf(Document, Kept, forwarded), Has.Some.EqualTo($"## {pass.Group}: promise and observation"));
            Assert.That(LinesOf(Document, without), Has.Some.EqualTo($"- kill-at-dispatch in {pass.Mode} (bare/postgresql/pass): there is no row"));
        }
    }

    private static string SpeedsOf(GitCommit? own, GitCommit? speeds) => LinesOf(
        Document with { Commit = own, Speeds = Document.Speeds! with { Commit = speeds } }, Kept).Single(
        line => line.StartsWith("- msg/s:", StringComparison.Ordinal));

    private static List<string> LinesOf(FaultDocument document, params FaultResult[] results)
    {
        using var output = new StringWriter { NewLine = "\n" };
        new GuaranteeReport(document, results).WriteMarkdown(output);
        return [.. output.ToString().Split('\n')];
    }
}
