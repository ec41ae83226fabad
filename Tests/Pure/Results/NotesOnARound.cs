using Kit.Runner.Results;

namespace Kit.Tests.Results;

/// <summary>What a reader is told of a round that is not like the others.</summary>
public sealed class NotesOnARound
{
    private const string Round = "bare/postgresql/full-dtc/ado, round 1";
    private const string Busy = "noisy, other processes took 50 % of the CPU (more than 8 %). ";

    private static readonly RoundDocument Quiet = InventedRun.Round("full-dtc", 1, seconds: 4);
    private static readonly RoundDocument Noisy = Quiet with { Noise = new Noise(Reading.Of(0.5), Noise.DefaultLimit, BusiestProcess: null) };
    private static readonly RoundDocument Again = Quiet with { Attempt = 2 };

    [Test]
    public void A_quiet_one_needs_none() => Assert.That(NotesOn(Quiet), Is.Empty);

    [Test]
    public void A_noisy_one_that_was_run_again_is_out() => Assert.That(
        NotesOn(Noisy, Again), Is.EqualTo([$"{Round}: {Busy}It was repeated: attempt 2 was quieter, and counts."]));

    [Test]
    public void A_noisy_one_that_failed_when_it_was_run_again_is_in() => Assert.That(
        NotesOn(Noisy, Again with { Outcome = RoundOutcome.Stalled("no commit for 30 s") }),
        Is.EqualTo(
        [
            $"{Round}: {Busy}It is the quietest valid attempt at this round, and counts.",
            $"{Round} again: stalled, not in the averages: no commit for 30 s.",
        ]));

    [Test]
    public void A_noisy_one_that_failed_leaves_the_round_without_an_attempt() => Assert.That(
        NotesOn(Noisy with { Outcome = RoundOutcome.Error("no server") }),
        Is.EqualTo([$"{Round}: error, not in the averages: no server.", $"{Round}: {Busy}No attempt at this round counts."]));

    [Test]
    public void A_noisy_one_is_in_where_only_another_round_was_run_again() => Assert.That(
        NotesOn(Noisy, Quiet with { Round = 2 }, Again with { Round = 2 }), Is.EqualTo([$"{Round}: {Busy}It was not repeated, and counts."]));

    [Test]
    public void One_of_less_than_a_second_has_no_busiest() => Assert.That(
        NotesOn(InventedRun.Round("full-dtc", 1, seconds: 0.5)),
        Is.EqualTo(["bare/postgresql/full-dtc/ado: drained in less than a second, so there is no busiest second to show."]));

    [Test]
    public void Cells_by_another_clock_are_named_once() => Assert.That(
        RoundNotes.Of(new RecordedRun(
            InventedRun.Document,
            [
                Quiet,
                .. new[] { "dtc-off", "scope-off" }.Select(
                    mode => InventedRun.Round(mode, 1, seconds: 4) with { Clock = ClockSource.HandlerCompletions }),
            ])),
        Does.Contain(
            "bare/postgresql/dtc-off/ado, bare/postgresql/scope-off/ado: " +
            "timed by handler completions, and other cells by commits: their rates are not compared."));

    [Test]
    public void Promotions_are_told_round_by_round() => Assert.That(
        NotesOn(Quiet with { Promotions = 0 }, Quiet with { Round = 2, Promotions = 1_200 }),
        Is.EqualTo(["bare/postgresql/full-dtc/ado: transactions promoted to distributed ones, round by round: 0; 1,200."]));

    [Test]
    public void What_could_not_be_measured_is_told_once()
    {
        var blind = Quiet with { Noise = new Noise(Reading.Missing("no such counter"), Noise.DefaultLimit, BusiestProcess: null) };

        Assert.That(
            NotesOn(blind, blind with { Round = 2 }),
            Is.EqualTo(["bare/postgresql/full-dtc/ado: load from other processes not measured: no such counter."]));
    }

    [TestCase(2, "All cells: ")]
    [TestCase(3, "bare/postgresql/full-dtc/ado, bare/postgresql/dtc-off/ado: ")]
    public void What_holds_of_several_cells_is_told_once(int cells, string whose)
    {
        CellName[] planned = [Quiet.Cell, InventedRun.Cell("dtc-off"), InventedRun.Cell("scope-off")];
        var rounds = planned.Take(2).Select(cell => Quiet with { Cell = cell, Noise = new Noise(Reading.Missing("no such counter"), 0.08, null) });

        Assert.That(
            RoundNotes.Of(new RecordedRun(InventedRun.Document with { Cells = [.. planned.Take(cells)] }, [.. rounds])),
            Is.EqualTo([$"{whose}load from other processes not measured: no such counter."]));
    }

    [Test]
    public void A_reason_that_keeps_several_cells_out_is_told_once() => Assert.That(
        CellLeftOut.LinesOf([new(Quiet.Cell, "no server"), new(InventedRun.Cell("dtc-off"), "no prepare"), new(InventedRun.Cell("scope-off"), "no server")]),
        Is.EqualTo(["bare/postgresql/full-dtc/ado, bare/postgresql/scope-off/ado: no server", "bare/postgresql/dtc-off/ado: no prepare"]));

    [Test]
    public void A_slow_disk_is_told_with_how_slow_it_was()
    {
        var slow = Quiet with { Noise = Quiet.Noise with { FlushRatio = 2.25 } };
        const string told = "a flush took 2.25 times as long as before the";

        using (Assert.EnterMultipleScope())
        {
            Assert.That(RoundLine.Of(slow), Is.EqualTo($"{Round}: 100 msg/s, valid, noisy: {told} run"));
            Assert.That(NotesOn(slow), Is.EqualTo([$"{Round}: noisy, {told} first round (more than 1.50). It was not repeated, and counts."]));
        }
    }

    [TestCase(1, "bare/postgresql/full-dtc/ado, round 1: 100 msg/s, valid, noisy: other processes took 50 %")]
    [TestCase(2, "bare/postgresql/full-dtc/ado, round 1 again: 100 msg/s, valid, noisy: other processes took 50 %")]
    public void In_one_line_it_is_told_as_well(int attempt, string line) => Assert.That(RoundLine.Of(Noisy with { Attempt = attempt }), Is.EqualTo(line));

    [Test]
    public void In_one_line_a_failed_one_has_its_reasons() => Assert.That(
        RoundLine.Of(Quiet with { Outcome = RoundOutcome.Invalid(["messages lost: 1", "rows: 3 found"]) }),
        Is.EqualTo($"{Round}: 100 msg/s, INVALID (messages lost: 1; rows: 3 found)"));

    private static IReadOnlyList<string> NotesOn(params RoundDocument[] rounds) =>
        RoundNotes.Of(new RecordedRun(InventedRun.Document with { Cells = [Quiet.Cell] }, rounds));
}
