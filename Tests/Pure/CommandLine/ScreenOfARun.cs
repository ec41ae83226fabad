using Kit.Endpoints.Cells;
using Kit.Runner.Results;
using Kit.Runner.Rounds;
using Kit.Runner.Stage;
using Spectre.Console;

namespace Kit.Tests.CommandLine;

/// <summary>What a terminal shows while a run goes on, at any size.</summary>
[Parallelizable]
public sealed class ScreenOfARun
{
    private const string Current = "bare/postgresql/dtc-off/ado";

    private static readonly string[] Few = ["bare/postgresql/full-dtc/ado", Current, "bare/postgresql/scope-off/ado", "bare/postgresql/transactions-off/ado"];
    private static readonly string[] Many = [.. Cell.All.Select(cell => Provenance.NameOf(cell).ToString()).Take(100)];

    private TimeSpan now = TimeSpan.FromSeconds(100);

    [Test]
    public void At_80_columns_it_has_the_run_the_round_and_the_cells()
    {
        var screen = InTheMiddle(Few, rounds: 5);

        Assert.That(screen.Lines(80, 24).Select(line => line.TrimEnd()), Is.EqualTo(
        [
            "5 of 20 rounds ━━━━━━━━━━───────────────────────────────── 25 %, about 0 s left",
            "bare/postgresql/dtc-off/ado, round 2 of 5",
            "  4,000 of 10,000 messages, 1,000 msg/s ████████ of 1,000",
            "bare/postgresql/full-dtc/ado         ■■···   1,001",
            "bare/postgresql/dtc-off/ado          ■>···   1,001",
            "bare/postgresql/scope-off/ado        ~····   1,002",
            "bare/postgresql/transactions-off/ado x····",
            "■ done  ~ noisy  x failed  > running  · to do",
        ]));
    }

    [Test]
    public void At_160_columns_cells_are_next_to_each_other()
    {
        var lines = InTheMiddle(Few, rounds: 5).Lines(160, 24);

        Assert.That(lines[3], Does.StartWith("bare/postgresql/full-dtc/ado ").And.Contain("   bare/postgresql/scope-off/ado "));
        Assert.That(lines, Has.Count.EqualTo(6));
    }

    [Test]
    public void Cells_without_room_become_a_mark_of_each_round()
    {
        var lines = InTheMiddle([.. Many.Take(42)], rounds: 5).Lines(80, 24);

        Assert.That(lines.Skip(3), Is.EqualTo(
        [
            "round 1 ■■~x" + new string('·', 38),
            "round 2 ■>" + new string('·', 40),
            "round 3 " + new string('·', 42),
            "round 4 " + new string('·', 42),
            "round 5 " + new string('·', 42),
            "■ done  ~ noisy  x failed  > running  · to do",
        ]));
    }

    [Test]
    public void More_cells_than_columns_are_counted() =>
        Assert.That(InTheMiddle(Many, rounds: 5).Lines(80, 24)[3], Is.EqualTo("round 1 4 of 100 cells"));

    [Test]
    public void More_rounds_than_columns_are_counted() =>
        Assert.That(InTheMiddle(Few, rounds: 40).Lines(60, 24)[3].TrimEnd(), Is.EqualTo("bare/postgresql/full-dtc/ado          2/40   1,001"));

    [Test]
    public void No_line_is_longer_than_the_terminal_and_some_lines_are_left_to_what_is_above(
        [Values(1, 2, 10, 20, 40, 60, 79, 80, 81, 120, 152, 153, 160, 300)] int width, [Values(1, 2, 3, 5, 8, 24, 50)] int height,
        [Values(1, 4, 42, 100)] int cells, [Values(1, 5, 40, 200)] int rounds)
    {
        var screen = InTheMiddle([.. Many.Take(cells)], rounds);

        var drawn = Drawn(screen, width, height);

        using (Assert.EnterMultipleScope())
        {
            Assert.That(drawn, Has.All.Length.LessThanOrEqualTo(width));
            Assert.That(drawn, Has.Count.InRange(1, Math.Max(1, height - 1)));
        }
    }

    [Test]
    public void Before_the_first_round_rows_are_counted()
    {
        var screen = new RunScreen(() => now);
        Assert.That(screen.Lines(80, 24), Is.EqualTo(["starting"]));

        screen.Count("seeding rows", 1_000_000).Report(500_000);

        Assert.That(screen.Lines(80, 24), Is.EqualTo(["seeding rows", "  500,000 of 1,000,000 ━━━━━━━━━━━━━━━━━━━━━━━━━━━━────────────────────────────"]));
    }

    [Test]
    public void A_round_that_has_not_reported_is_being_prepared()
    {
        var screen = InTheMiddle(Few, rounds: 5);
        screen.Round(Few[2], 2, "the next", 10_000);

        Assert.That(screen.Lines(80, 24).Skip(1).Take(2), Is.EqualTo(["the next", "  restoring, preloading, warming up"]));
    }

    [Test]
    public void A_round_that_stands_still_has_no_rate()
    {
        var screen = InTheMiddle(Few, rounds: 5);
        now += TimeSpan.FromSeconds(5);

        Assert.That(screen.Lines(80, 24)[2], Is.EqualTo($"  4,000 of 10,000 messages, 0 msg/s ████████{new string(' ', 8)} of 1,000"));
    }

    [Test]
    public void A_round_whose_messages_are_all_handled_is_being_checked()
    {
        var progress = InTheMiddle(Few, rounds: 5, out var screen);
        now += TimeSpan.FromSeconds(0.25);
        progress.Report(10_000);
        now += TimeSpan.FromSeconds(5);

        Assert.That(screen.Lines(80, 24)[2], Does.StartWith("  10,000 of 10,000 messages, checking each "));
    }

    [TestCase("a text", 80, "a text")]
    [TestCase("a text of some words", 11, "a text of", "some words")]
    [TestCase("a text of some words", 7, "a text", "of", "some", "words")]
    [TestCase("averylongname of", 6, "avery", "longn", "ame", "of")]
    [TestCase("two\nlines", 80, "two", "lines")]
    [TestCase("", 3, "")]
    [TestCase("ab", 1, "a", "b")]
    public void What_is_written_above_covers_what_was_there(string text, int width, params string[] lines) =>
        Assert.That(RunScreen.Above(text, width), Is.EqualTo(lines.Select(line => line.PadRight(Math.Max(1, width - 1)))));

    [Test]
    public void A_run_to_a_precision_may_end_earlier()
    {
        var screen = new RunScreen(() => now);
        screen.Plan(Few, 40, isAtMost: true, before: []);
        screen.Round(Few[0], 1, "the first", 1);
        screen.Finished("a line", new FinishedRound(Few[0], 1, RoundMark.Valid, 1_000), 1, 160);

        Assert.That(screen.Lines(80, 24)[0], Does.StartWith("1 of at most 160 rounds ").And.Contain(", at most about "));
    }

    [Test]
    public void A_resumed_run_shows_what_was_there()
    {
        var screen = new RunScreen(() => now);
        screen.Plan(Few, 3, isAtMost: false, [new FinishedRound(Few[0], 1, RoundMark.Valid, 1_000), new FinishedRound(Few[0], 2, RoundMark.Noisy, 900)]);

        Assert.That(screen.Lines(80, 24)[0], Does.StartWith("2 of 12 rounds ").And.EndsWith(" 16 %"));
        Assert.That(screen.Lines(80, 24), Has.Some.Match("^bare/postgresql/full-dtc/ado +■~· +900$"));
    }

    [Test]
    public void The_graph_follows_the_rate()
    {
        var graph = new RateGraph();
        for (var quarter = 0; quarter <= 16; quarter++)
            graph.Add(TimeSpan.FromSeconds(quarter / 4d), quarter <= 8 ? quarter * 100 : 800 + ((quarter - 8) * 50));

        using (Assert.EnterMultipleScope())
        {
            Assert.That(graph.Draw(TimeSpan.FromSeconds(4), 60), Is.EqualTo(("████▄▄▄▄", 400)));
            Assert.That(graph.Draw(TimeSpan.FromSeconds(4), 4), Is.EqualTo(("██▄▄", 400)));
            Assert.That(graph.Draw(TimeSpan.FromSeconds(4), 0).Graph, Is.Empty);
            Assert.That(graph.PerSecond(TimeSpan.FromSeconds(4)), Is.EqualTo(200).Within(0.001));
        }
    }

    /// <summary>Round 1 of the first four cells is done, each in another way, and the second round of the second one runs.</summary>
    private RunScreen InTheMiddle(string[] cells, int rounds)
    {
        InTheMiddle(cells, rounds, out var screen);
        return screen;
    }

    private IProgress<int> InTheMiddle(string[] cells, int rounds, out RunScreen screen)
    {
        screen = new RunScreen(() => now);
        screen.Plan(cells, rounds, isAtMost: false, before: []);
        var (marks, done) = (new[] { RoundMark.Valid, RoundMark.Valid, RoundMark.Noisy, RoundMark.Failed }, 0);
        var ended = cells.Take(4).Select((cell, index) => new FinishedRound(cell, 1, marks[index], index == 3 ? null : 1_000 + index))
            .Append(new FinishedRound(cells[0], 2, RoundMark.Valid, 1_001));
        foreach (var round in ended)
        {
            screen.Round(round.Cell, round.Number, "an earlier one", 10_000);
            screen.Finished("a line", round, ++done, cells.Length * rounds);
        }

        var cell = cells[Math.Min(1, cells.Length - 1)];
        var progress = screen.Round(cell, 2, $"{cell}, round 2 of {rounds}", 10_000);
        for (var handled = 0; handled <= 4_000; handled += 250)
        {
            progress.Report(handled);
            if (handled < 4_000)
                now += TimeSpan.FromSeconds(0.25);
        }

        return progress;
    }

    private static List<string> Drawn(RunScreen screen, int width, int height)
    {
        using var output = new StringWriter();
        var console = TerminalSummary.ConsoleOn(output, width);
        console.Profile.Height = height;
        console.Write(new TerminalDisplay.Drawn(screen));
        return [.. output.ToString().ReplaceLineEndings("\n").TrimEnd('\n').Split('\n')];
    }
}
