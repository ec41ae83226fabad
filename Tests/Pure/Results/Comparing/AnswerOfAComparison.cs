using Kit.Guarantees;
using Kit.Runner.Results;
using Kit.Runner.Results.Accounts;
using Kit.Runner.Results.Comparing;
using Kit.Runner.Results.Faults;
using Kit.Runner.Results.Points;
using Kit.Tests.Results.Faults;

namespace Kit.Tests.Results.Comparing;

/// <summary>What stands at the head of a comparison, and what it makes of sides that do not fit together.</summary>
public sealed class AnswerOfAComparison
{
    private static readonly CellName Full = InventedRun.Cell("full-dtc");
    private static readonly CellName Shared = InventedRun.Cell("shared");
    private static readonly CellName Off = InventedRun.Cell("transactions-off");

    [Test]
    public void Names_the_regression_and_what_could_not_be_judged()
    {
        var report = ByRound(InventedSides.Before, InventedSides.After, InventedSides.Gate);

        using (Assert.EnterMultipleScope())
        {
            Assert.That(report.HasRegression, Is.True);
            Assert.That(report.IsUnsound, Is.True, "a threshold could not be judged");
            Assert.That(LinesOf(report).Skip(2).Take(3), Is.EqualTo(
            [
                $"- REGRESSION: {Shared} is slower by more than 5 %.",
                $"- NOT JUDGED: {Off}: too few rounds for a threshold.",
                "- Cells compared: 3. Slower after: 1. Faster after: 0. No clear difference: 1. Too few rounds: 1.",
            ]));
        }
    }

    [Test]
    public void Of_the_sides_exchanged_is_a_faster_cell()
    {
        var report = ByRound(InventedSides.After, InventedSides.Before, InventedSides.NoGate);

        Assert.That(report.HasRegression, Is.False);
        Assert.That(LinesOf(report)[2], Does.Contain("Slower after: 0. Faster after: 1. No clear difference: 1."));
    }

    [Test]
    public void Is_sound_where_every_round_is_valid_and_no_threshold_was_set() =>
        Assert.That(ByRound(InventedSides.Before, InventedSides.After, InventedSides.NoGate).IsUnsound, Is.False);

    [TestCase(true)]
    [TestCase(false)]
    public void Is_unsound_where_a_round_of_either_side_failed(bool isBefore)
    {
        var (before, after) = isBefore
            ? (WithoutFirstRound(InventedSides.Before), InventedSides.After)
            : (InventedSides.Before, WithoutFirstRound(InventedSides.After));

        var report = ByRound(before, after, InventedSides.NoGate);

        Assert.That(report.IsUnsound, Is.True);
        Assert.That(LinesOf(report), Has.Some.StartsWith($"- {(isBefore ? "before" : "after")}: {Full}, round 1: ").And.Contain("INVALID (messages lost: 1)"));
    }

    [Test]
    public void Says_which_rounds_were_noisy_and_that_noise_is_not_known()
    {
        static ComparisonReport With(params IReadOnlyList<(string, Noise)> turns) => new(
            "compare", ComparedSpeeds.ByRound(InventedSides.Before, InventedSides.After, InventedSides.NoGate), promises: null)
        {
            Turns = turns,
        };
        var quiet = new Noise(Reading.Of(0.01), Noise.DefaultLimit, BusiestProcess: null);
        var missing = new Noise(Reading.Missing("a server is not the kit's own"), Noise.DefaultLimit, BusiestProcess: null);

        using (Assert.EnterMultipleScope())
        {
            Assert.That(
                LinesOf(With(("before, round 1", quiet), ("after, round 1", quiet with { OtherCpuShare = Reading.Of(0.5), BusiestProcess = "backup" }))),
                Has.Some.EqualTo("- NOISY: after, round 1: other processes took 50 % of the CPU (more than 8 %), backup the most.")
                    .And.None.Contains("before, round 1:"));
            Assert.That(
                LinesOf(With(("before, round 1", missing), ("after, round 1", missing))),
                Has.One.EqualTo("- NOISE NOT KNOWN: load from other processes was not measured: a server is not the kit's own."));
        }
    }

    [Test]
    public void Says_which_side_did_not_come_to_its_end()
    {
        var after = new RecordedRun(InventedSides.After.Document with { Ending = RunEnding.Stopped("Ctrl+C") }, InventedSides.After.Rounds);

        Assert.That(LinesOf(ByRound(InventedSides.Before, after, InventedSides.NoGate)), Has.Some.EqualTo("- INCOMPLETE: after is stopped: Ctrl+C."));
        Assert.That(LinesOf(ByRound(after, InventedSides.After, InventedSides.NoGate)), Has.Some.EqualTo("- INCOMPLETE: before is stopped: Ctrl+C."));
    }

    [Test]
    public void As_a_gate_needs_each_cell_of_before_and_the_end_of_both_runs()
    {
        var (before, after) = (RunOf(InventedSides.Before, Full, Shared), RunOf(InventedSides.Before, Full, Shared));
        var lacking = new RecordedRun(before.Document with { LeftOut = [new CellLeftOut(Off, ComparedSpeeds.OtherLacksIt)] }, before.Rounds);
        var stopped = new RecordedRun(after.Document with { Ending = RunEnding.Stopped("Ctrl+C") }, after.Rounds);

        using (Assert.EnterMultipleScope())
        {
            Assert.That(ByRound(before, after, InventedSides.Gate).IsUnsound, Is.False);
            Assert.That(ByRound(RunOf(before, Full), after, InventedSides.Gate).IsUnsound, Is.False, "a new cell has nothing to be compared with");
            Assert.That(ByRound(before, stopped, InventedSides.Gate).IsUnsound, Is.True);
            Assert.That(ByRound(before, stopped, InventedSides.NoGate).IsUnsound, Is.False);
            foreach (var (report, why) in new[]
            {
                (ByRound(before, RunOf(after, Full), InventedSides.Gate), $"{Shared}: only before"),
                (ByRound(lacking, after, InventedSides.Gate), $"{Off}: the other build does not run it"),
            })
            {
                Assert.That(report.IsUnsound, Is.True, why);
                Assert.That(LinesOf(report), Has.Some.EqualTo($"- NOT JUDGED: {why}."));
            }

            Assert.That(
                new ComparisonReport("compare", ComparedSpeeds.ByReference(before, after, reference: null, InventedSides.Gate), promises: null).IsUnsound,
                Is.False, "the reference has no ratio, and needs none");
        }
    }

    [Test]
    public void As_a_gate_asks_for_a_reference_for_a_cell_without_another_mode()
    {
        var alone = InventedRun.Cell("full-dtc", transport: "rabbitmq");
        var some = RunOf(InventedSides.Before, Full, Shared);
        var run = new RecordedRun(
            some.Document with { Cells = [.. some.Document.Cells, alone] },
            [.. some.Rounds, .. some.Rounds.Where(round => round.Cell == Full).Select(round => round with { Cell = alone })]);
        ComparisonReport Of(CellName? reference) => new("compare", ComparedSpeeds.ByReference(run, run, reference, InventedSides.Gate), promises: null);

        Assert.That(
            LinesOf(Of(reference: null)),
            Has.Some.EqualTo($"- NOT JUDGED: {alone}: no other cell has a ratio to it; name another reference with --reference."));
        Assert.That(Of(Shared).IsUnsound, Is.False);
    }

    [Test]
    public void Says_which_experiments_a_side_has_not_finished_and_is_unsound()
    {
        var stopped = InventedExperiments.Document with { Outstanding = ["bare.postgresql.full-dtc.ado.poison", InventedExperiments.Results[0].Name] };
        var report = new ComparisonReport(
            "compare", speeds: null,
            new ComparedPromises(new(InventedExperiments.Document, InventedExperiments.Results), new(stopped, InventedExperiments.Results)));

        Assert.That(LinesOf(report), Has.Some.StartsWith("- after: INCOMPLETE: at least 1 experiments are outstanding."));
        Assert.That(report.IsUnsound, Is.True);
    }

    [Test]
    public void Says_of_each_cell_without_a_ratio_why_it_has_none()
    {
        var (before, after) = (InventedSides.Before, InventedSides.After);
        var speeds = ComparedSpeeds.ByRound(
            RunOf(before, Full, Shared, InventedRun.Cell("dtc-off")),
            RunOf(after, Shared, Off, InventedRun.Cell("dtc-off")),
            InventedSides.NoGate);

        Assert.That(speeds.NotCompared, Is.EqualTo(
        [
            new CellLeftOut(Full, "only before"),
            new CellLeftOut(InventedRun.Cell("dtc-off"), "no round counts before"),
            new CellLeftOut(Off, "only after"),
        ]));
    }

    [Test]
    public void Of_nothing_that_could_be_compared_begins_with_the_reason_and_is_unsound()
    {
        var failed = Without(InventedSides.After, _ => true);
        var stopped = new RecordedRun(InventedSides.Before.Document, []);
        var (full, off) = (RunOf(InventedSides.Before, Full), RunOf(InventedSides.After, Off));

        foreach (var (speeds, why) in new[]
        {
            (ComparedSpeeds.ByReference(stopped, InventedSides.After, null, InventedSides.NoGate), "before has no round that counts"),
            (ComparedSpeeds.ByRound(InventedSides.Before, failed, InventedSides.NoGate), "after has no round that counts"),
            (ComparedSpeeds.ByReference(full, off, null, InventedSides.NoGate), "the two sides have no cell in common"),
            (ComparedSpeeds.ByReference(full, RunOf(InventedSides.After, Full), null, InventedSides.NoGate),
                "no cell that both sides have could be compared; 'Not compared' says why for each"),
        })
        {
            var report = new ComparisonReport("compare", speeds, promises: null);
            Assert.That(LinesOf(report)[2], Is.EqualTo($"- NOTHING COMPARED: {why}."));
            Assert.That(report.IsUnsound, Is.True, why);
        }
    }

    [Test]
    public void Of_experiments_that_share_none_begins_with_that_and_is_unsound()
    {
        var report = Of([InventedExperiments.Results[0]], [InventedExperiments.Results[1]]);

        Assert.That(LinesOf(report)[2], Is.EqualTo("- NOTHING COMPARED: the two folders have no experiment in common."));
        Assert.That(report.IsUnsound, Is.True);
    }

    [Test]
    public void Says_that_no_round_counts_after() => Assert.That(
        ComparedSpeeds.ByRound(RunOf(InventedSides.Before, Full), Without(InventedSides.After, _ => true), InventedSides.NoGate).NotCompared.Single(
            left => left.Cell == Full).Because,
        Is.EqualTo("no round counts after"));

    [Test]
    public void Says_that_no_round_counts_on_both_sides()
    {
        var (before, after) = (Without(InventedSides.Before, round => round.Round > 3), Without(InventedSides.After, round => round.Round <= 3));

        Assert.That(
            ComparedSpeeds.ByRound(before, after, InventedSides.NoGate).NotCompared.Single(left => left.Cell == Full).Because,
            Is.EqualTo("no round counts on both sides"));
        Assert.That(
            ComparedSpeeds.ByReference(before, after, InventedRun.Cell("outbox"), InventedSides.NoGate).NotCompared.Single(left => left.Cell == Full).Because,
            Is.EqualTo("its reference is missing or timed by another clock, or no round counts in both"));
    }

    [Test]
    public void Says_which_side_left_a_cell_out_and_why()
    {
        CellLeftOut both = new(Full, "no prepare"), first = new(Shared, "no room"), second = new(Off, "no time");
        var before = new RecordedRun(InventedSides.Before.Document with { LeftOut = [both, first] }, []);
        var after = new RecordedRun(InventedSides.After.Document with { LeftOut = [both, second] }, []);

        Assert.That(
            ComparedSpeeds.ByRound(before, after, InventedSides.NoGate).LeftOut.Select(left => left.Because),
            Is.EqualTo(["left out: no prepare", "left out before: no room", "left out after: no time"]));
    }

    [Test]
    public void Names_the_whole_cell_where_the_reference_is_of_another_group()
    {
        var other = InventedRun.Cell("shared", access: "dapper");
        RecordedRun With(RecordedRun run) => new(
            run.Document with { Cells = [Full, other] },
            [.. run.Rounds.Select(round => round.Cell == Shared ? round with { Cell = other } : round).Where(round => round.Cell != Off)]);

        var report = new ComparisonReport(
            "compare", ComparedSpeeds.ByReference(With(InventedSides.Before), With(InventedSides.After), other, InventedSides.NoGate), promises: null);

        Assert.That(LinesOf(report), Has.Some.StartsWith($"| {Full} | {other} |"));
    }

    [Test]
    public void Names_a_promise_that_is_broken_now()
    {
        var kept = InventedExperiments.Results.First(result => result.Verdict is FaultVerdict.Kept);
        var report = Of([kept], [kept with { Verdict = FaultVerdict.Broken, Violations = [new Violation(null, "message 1 is lost", [])] }]);

        using (Assert.EnterMultipleScope())
        {
            Assert.That((report.HasRegression, report.IsUnsound), Is.EqualTo((true, false)));
            Assert.That(LinesOf(report), Has.Some.EqualTo($"- REGRESSION: {kept.Cell} breaks a promise under {kept.Fault}."));
            Assert.That(LinesOf(report), Has.Some.Contains("| REGRESSION: broken |"));
        }
    }

    [TestCase(FaultVerdict.Void, "no longer shown", true)]
    [TestCase(FaultVerdict.NoWindow, "promised differently", false)]
    public void Names_a_promise_that_is_not_shown_or_gone(FaultVerdict now, string change, bool isUnsound)
    {
        var kept = InventedExperiments.Results.First(result => result.Verdict is FaultVerdict.Kept);
        var report = Of([kept], [kept with { Verdict = now, Because = "the fault did not fire" }]);

        using (Assert.EnterMultipleScope())
        {
            Assert.That((report.HasRegression, report.IsUnsound), Is.EqualTo((false, isUnsound)));
            Assert.That(LinesOf(report), Has.Some.EndsWith($": the fault did not fire | {change} |"));
        }
    }

    [Test]
    public void Names_a_promise_that_is_mended_and_one_that_is_broken_for_a_known_reason()
    {
        var broken = InventedExperiments.Results.Single(result => result is { Verdict: FaultVerdict.Broken, Known: null });
        var known = InventedExperiments.Results.Single(result => result.Known is not null);

        var lines = LinesOf(Of([broken, known with { Verdict = FaultVerdict.Kept }], [broken with { Verdict = FaultVerdict.Kept, Violations = [] }, known]));

        Assert.That(lines, Has.Some.EndsWith("| kept again |"));
        Assert.That(lines, Has.Some.EndsWith("known: its neighbour closes their channel (driver 1.2) | broken for a known reason |"));
    }

    [TestCase(10, 10, null)]
    [TestCase(11, 11, "- and 1 more")]
    [TestCase(12, 11, "- and 2 more")]
    public void Lists_the_first_ten_experiments_of_one_side_alone(int experiments, int lines, string? last)
    {
        var results = Fault.All.Take(experiments).Select(fault => InventedExperiments.Results[0] with { Fault = fault.Name }).ToList();

        foreach (var (report, title) in new[] { (Of(results, []), "## Experiments only before"), (Of([], results), "## Experiments only after") })
        {
            var listed = LinesOf(report).SkipWhile(line => line != title).Skip(2).TakeWhile(line => line.StartsWith('-')).ToList();
            Assert.That(listed, Has.Count.EqualTo(lines));
            if (last is not null)
                Assert.That(listed[^1], Is.EqualTo(last));
        }
    }

    [Test]
    public void Of_nothing_that_changed_says_so()
    {
        var lines = LinesOf(Of(InventedExperiments.Results, InventedExperiments.Results));

        Assert.That(lines, Has.Some.EqualTo("None of 11 promises changed.").And.Some.EqualTo("No recorded differences."));
    }

    private static ComparisonReport ByRound(RecordedRun before, RecordedRun after, Limits limits) =>
        new("compare", ComparedSpeeds.ByRound(before, after, limits), promises: null);

    private static ComparisonReport Of(IReadOnlyList<FaultResult> before, IReadOnlyList<FaultResult> after) => new(
        "compare", speeds: null, new ComparedPromises(new(InventedExperiments.Document, before), new(InventedExperiments.Document, after)));

    private static List<string> LinesOf(ComparisonReport report)
    {
        using var output = new StringWriter { NewLine = "\n" };
        report.WriteMarkdown(output);
        return [.. output.ToString().Split('\n')];
    }

    private static RecordedRun RunOf(RecordedRun run, params CellName[] cells) => new(
        run.Document with { Cells = cells }, [.. run.Rounds.Where(round => cells.Contains(round.Cell))]);

    private static RecordedRun WithoutFirstRound(RecordedRun run) => Without(run, round => round.Round == 1 && round.Cell == Full);

    private static RecordedRun Without(RecordedRun run, Func<RoundDocument, bool> failed) => new(
        run.Document,
        [.. run.Rounds.Select(round => failed(round) ? round with { Outcome = RoundOutcome.Invalid(["messages lost: 1"]) } : round)]);
}
