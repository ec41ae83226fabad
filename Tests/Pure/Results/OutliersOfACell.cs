using Kit.Runner.Results;

namespace Kit.Tests.Results;

/// <summary>Rounds that differ much from the others of their cell.</summary>
[Parallelizable]
public sealed class OutliersOfACell
{
    private const string Cell = "bare/postgresql/full-dtc/ado";

    private const string Advice =
        "Outliers (a score beyond 3.50): look at the graph for a pause, and at the load of other processes. In more rounds (--rounds, --precision) one " +
        "weighs less. Chance alone makes some: of five rounds, in 20 of 100 cells.";

    // Median 100, deviations 0, 2, 2, 4, 20, their median 2: 0.6745 · 20 / 2.
    [Test]
    public void The_score_is_that_of_Iglewicz_and_Hoaglin()
    {
        var outlier = Of(100, 98, 102, 96, 120).Outliers.Single();

        using (Assert.EnterMultipleScope())
        {
            Assert.That(outlier.Round.Round, Is.EqualTo(5));
            Assert.That(outlier.Score, Is.EqualTo(6.745).Within(0.01));
            Assert.That(outlier.FromMedian, Is.EqualTo(0.2).Within(0.001));
        }
    }

    [TestCase(new double[] { 100, 98, 102, 96, 110 }, Description = "0.6745 · 10 / 2 is within the limit.")]
    [TestCase(new double[] { 100, 98, 102, 150 }, Description = "Too few rounds.")]
    [TestCase(new double[] { 100, 100, 100, 100, 150 }, Description = "The deviations have no median.")]
    [TestCase(new[] { 100, 100.1, 99.9, 100.2, 102.5 }, Description = "A difference too small to matter.")]
    [TestCase(new double[0])]
    public void None_is_seen_without_evidence(double[] rates) => Assert.That(Of(rates).Outliers, Is.Empty);

    [Test]
    public void It_stays_in_every_average()
    {
        var cell = Of(100, 98, 102, 96, 150);

        using (Assert.EnterMultipleScope())
        {
            Assert.That(cell.Counting, Has.Count.EqualTo(5));
            Assert.That(cell.Rate!.Mean, Is.EqualTo(109.2).Within(0.01));
        }
    }

    [Test]
    public void It_is_told_with_advice() => Assert.That(
        NotesOn(100, 98, 102, 96, 150),
        Is.EqualTo([$"{Cell}, round 5: outlier, 150 msg/s, 50 % above the cell's median (modified z-score 16.9). It counts.", Advice]));

    [Test]
    public void A_slow_first_round_is_told_as_such() => Assert.That(
        NotesOn(50, 98, 102, 96, 100),
        Is.EqualTo(
        [
            $"{Cell}, round 1: slow first round, 50.0 msg/s, 49 % below the cell's median (modified z-score -16.2). It counts.",
            "Slow first rounds: the machine may still have been busy with what came before. Make more rounds, or first a run that you do not use.",
        ]));

    [TestCase(150, 98, 102, 96, 100)]
    [TestCase(98, 50, 102, 96, 100)]
    public void Only_a_slow_round_at_the_start_is_a_slow_first_round(params double[] rates) =>
        Assert.That(NotesOn(rates), Has.Count.EqualTo(2).And.Some.Contains(": outlier, ").And.Some.EqualTo(Advice));

    [Test]
    public void The_coefficient_of_variation_is_in_the_summary()
    {
        var run = Recorded(90, 100, 110);
        var column = SummaryTable.SpeedOf(run).Single(column => column.Header == SummaryTable.Variation);

        using (Assert.EnterMultipleScope())
        {
            Assert.That(run.Cells.Single().Rate!.Variation, Is.EqualTo(0.1).Within(0.0001));
            Assert.That(column.Text(run, run.Cells.Single()), Is.EqualTo("10 %"));
            Assert.That(column.Text(Recorded(90), Recorded(90).Cells.Single()), Is.EqualTo(Figures.None));
            Assert.That(column.Text(Recorded(), Recorded().Cells.Single()), Is.EqualTo(Figures.None));
        }
    }

    private static CellResult Of(params double[] rates) => Recorded(rates).Cells.Single();

    private static IReadOnlyList<string> NotesOn(params double[] rates) => RoundNotes.Of(Recorded(rates));

    private static RecordedRun Recorded(params double[] rates) => new(
        InventedRun.Document with { Cells = [InventedRun.Cell("full-dtc")] },
        [.. rates.Select((rate, index) => InventedRun.Round("full-dtc", index + 1, seconds: 400 / rate))]);
}
