using Kit.Runner.Results;
using Kit.Runner.Results.Comparing;

namespace Kit.Tests.Results.Comparing;

public sealed class SpeedsOfTwoSides
{
    private static readonly CellName Shared = InventedRun.Cell("shared");
    private static readonly CellName Full = InventedRun.Cell("full-dtc");
    private static readonly CellName Off = InventedRun.Cell("transactions-off");

    [Test]
    public void Builds_are_compared_by_round()
    {
        var speeds = ComparedSpeeds.ByRound(InventedSides.Before, InventedSides.After, InventedSides.NoGate);

        using (Assert.EnterMultipleScope())
        {
            Assert.That(VerdictOf(speeds, Full), Is.EqualTo(ComparisonVerdict.NoClearDifference));
            Assert.That(VerdictOf(speeds, Shared), Is.EqualTo(ComparisonVerdict.Slower));
            Assert.That(VerdictOf(speeds, Off), Is.EqualTo(ComparisonVerdict.TooFewRounds));
            Assert.That(speeds.Cells.Single(cell => cell.Cell == Shared).Comparison.Ratio.Value, Is.EqualTo(1 / 1.12).Within(0.02));
            Assert.That(speeds.Cells.Where(cell => cell.IsRegression), Is.Empty, "No threshold was set.");
        }
    }

    [TestCase(0.03, true)]
    [TestCase(0.05, true)]
    [TestCase(0.11, false)]
    public void A_cell_that_is_slower_beyond_the_threshold_is_a_regression(double threshold, bool expected)
    {
        var speeds = ComparedSpeeds.ByRound(InventedSides.Before, InventedSides.After, new Limits(Margin.Default, new Margin(threshold)));

        Assert.That(speeds.Cells.Where(cell => cell.IsRegression).Select(cell => cell.Cell), Is.EqualTo(expected ? new[] { Shared } : []));
        Assert.That(speeds.NotJudged.Select(cell => cell.Cell), Is.EqualTo(new[] { Off }));
    }

    [Test]
    public void A_faster_cell_is_no_regression()
    {
        var speeds = ComparedSpeeds.ByRound(InventedSides.After, InventedSides.Before, InventedSides.Gate);

        Assert.That(VerdictOf(speeds, Shared), Is.EqualTo(ComparisonVerdict.Faster));
        Assert.That(speeds.Cells.Where(cell => cell.IsRegression), Is.Empty);
    }

    [Test]
    public void Runs_are_compared_by_each_cell_s_ratio_to_the_strictest_mode()
    {
        var speeds = ComparedSpeeds.ByReference(
            InventedSides.Before, Slowed(InventedSides.After, by: 3), reference: null, InventedSides.Gate);

        using (Assert.EnterMultipleScope())
        {
            Assert.That(
                speeds.Cells.Select(cell => cell.Cell), Is.EqualTo(new[] { Off, Shared }), "The reference is not compared with itself.");
            Assert.That(speeds.Cells.Select(cell => cell.Reference), Is.All.EqualTo(Full));
            Assert.That(
                speeds.Cells.Single(cell => cell.Cell == Shared).Comparison.Ratio.Value,
                Is.EqualTo(1 / 1.12).Within(0.02),
                "A machine of a third of the speed meets both.");
            Assert.That(speeds.NotCompared.Single(), Is.EqualTo(
                new CellLeftOut(Full, "the reference of the others: its ratio to itself is 1 in each run")));
        }
    }

    [Test]
    public void Another_reference_can_be_named()
    {
        var speeds = ComparedSpeeds.ByReference(InventedSides.Before, InventedSides.After, Shared, InventedSides.NoGate);

        Assert.That(speeds.Cells.Single(cell => cell.Cell == Full).Comparison.Ratio.Value, Is.EqualTo(1.12).Within(0.02));
    }

    [Test]
    public void A_strictest_mode_that_one_run_lacks_is_no_reference()
    {
        var after = new RecordedRun(
            InventedSides.After.Document with { Cells = [Shared, Off] },
            [.. InventedSides.After.Rounds.Where(round => round.Cell != Full)]);

        var speeds = ComparedSpeeds.ByReference(InventedSides.Before, after, reference: null, InventedSides.NoGate);

        Assert.That(speeds.Cells.Single().Reference, Is.EqualTo(Shared));
        Assert.That(speeds.NotCompared.Single(left => left.Cell == Full).Because, Is.EqualTo("only before"));
    }

    [Test]
    public void Failed_rounds_are_no_pairs()
    {
        var after = new RecordedRun(
            InventedSides.After.Document,
            [
                .. InventedSides.After.Rounds.Where(round => round.Round > 1),
                .. InventedSides.After.Rounds.Where(round => round.Round == 1).Select(
                    round => round with { Outcome = RoundOutcome.Stalled("stuck") }),
            ]);

        var speeds = ComparedSpeeds.ByRound(InventedSides.Before, after, InventedSides.Gate);

        Assert.That(speeds.Cells.Single(cell => cell.Cell == Shared).Comparison.Ratio.Pairs, Is.EqualTo(5));
        Assert.That(speeds.Invalid.Count(), Is.EqualTo(3));
    }

    [Test]
    public void What_two_runs_differ_in_is_named()
    {
        var after = new RecordedRun(
            InventedSides.Before.Document with
            {
                Commit = null,
                Server = new Dictionary<string, string>(InventedSides.Before.Document.Server) { ["version"] = "18.0" },
                Settings = InventedSides.Before.Document.Settings with { Messages = 800, OrderSeed = 7 },
            },
            InventedSides.Before.Rounds);

        var differences = Difference.Between(InventedSides.Before, after);

        Assert.That(differences, Is.EqualTo(new[]
        {
            new Difference("commit", new string('0', 40), "unknown"),
            new Difference("PostgreSQL version", "17.2", "18.0"),
            new Difference("messages", "400", "800"),
        }));
    }

    private static ComparisonVerdict VerdictOf(ComparedSpeeds speeds, CellName cell) =>
        speeds.Cells.Single(compared => compared.Cell == cell).Comparison.Verdict;

    private static RecordedRun Slowed(RecordedRun run, double by) => new(
        run.Document,
        [
            .. run.Rounds.Select(
                round => round with { OffsetsMilliseconds = [.. round.OffsetsMilliseconds.Select(offset => offset * by)] }),
        ]);
}
