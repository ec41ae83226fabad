using Kit.Runner.Results;

namespace Kit.Tests.Results;

public sealed class ComparedMeans
{
    [Test]
    public void No_figures_have_no_mean() => Assert.That(Estimate.Of([]), Is.Null);

    [Test]
    public void One_figure_has_a_mean_and_no_interval() =>
        Assert.That(Estimate.Of([42]), Is.EqualTo(new Estimate(42, HalfWidth: null, Count: 1)));

    /// <summary>By hand: s = √2.5, t(0.975; 4) = 2.776445, half width = 2.776445 · √2.5 / √5.</summary>
    [Test]
    public void Five_figures_have_the_interval_of_students_t()
    {
        var estimate = Estimate.Of([1, 2, 3, 4, 5])!;

        using (Assert.EnterMultipleScope())
        {
            Assert.That(estimate.Mean, Is.EqualTo(3));
            Assert.That(estimate.HalfWidth, Is.EqualTo(1.963243).Within(1e-6));
            Assert.That(estimate.Low, Is.EqualTo(1.036757).Within(1e-6));
            Assert.That(estimate.High, Is.EqualTo(4.963243).Within(1e-6));
        }
    }

    [Test]
    public void Equal_figures_have_an_interval_without_width() => Assert.That(Estimate.Of([7, 7, 7])!.HalfWidth, Is.Zero);

    [TestCase(100, 6, 110, 5, "1.10 (intervals overlap)")]
    [TestCase(110, 6, 100, 5, "0.909 (intervals overlap)")]
    [TestCase(100, 5, 110, 5, "1.10 (intervals overlap)", Description = "They touch.")]
    [TestCase(100, 5, 110, 4.9, "1.10 (faster)")]
    [TestCase(110, 5, 100, 4.9, "0.909 (slower)")]
    public void Difference_is_said_only_where_intervals_keep_apart(double baseline, double baselineHalf, double mean, double half, string expected)
    {
        var comparison = Comparison.Of(new Estimate(mean, half, 5), new Estimate(baseline, baselineHalf, 5));

        Assert.That(comparison.ToString(), Is.EqualTo(expected));
    }

    [TestCase(4, 5)]
    [TestCase(5, 4)]
    public void Fewer_than_five_rounds_on_either_side_are_labelled(int count, int baselineCount) =>
        Assert.That(Comparison.Of(new Estimate(200, 1, count), new Estimate(100, 1, baselineCount)).ToString(), Is.EqualTo("2.00 (n < 5)"));

    [Test]
    public void Baseline_is_the_strictest_mode_of_the_same_access_library()
    {
        var other = InventedRun.Cell("dtc-off") with { Access = "dapper" };
        var run = new RecordedRun(
            InventedRun.Document,
            [.. InventedRun.Rounds, .. Enumerable.Range(1, 5).Select(number => InventedRun.Round("dtc-off", number, seconds: 1) with { Cell = other })]);

        using (Assert.EnterMultipleScope())
        {
            Assert.That(run.IsStrictest(ResultOf(other)));
            Assert.That(run.IsStrictest(ResultOf(InventedRun.Cell("full-dtc"))));
            Assert.That(run.AgainstStrictest(ResultOf(other))!.Ratio, Is.EqualTo(1));
            Assert.That(run.AgainstStrictest(ResultOf(InventedRun.Cell("dtc-off")))!.Ratio, Is.EqualTo(1.13).Within(0.05));
        }

        CellResult ResultOf(CellName cell) => run.Cells.Single(result => result.Cell == cell);
    }

    [Test]
    public void Strictest_is_the_mode_to_which_a_crash_can_do_least()
    {
        var cells = new[] { "dtc-off", "outbox", "scope-off" }.Select(InventedRun.Cell).ToList();
        var run = new RecordedRun(InventedRun.Document with { Cells = cells }, []);

        Assert.That(run.Cells.Where(run.IsStrictest).Select(result => result.Cell.Mode), Is.EqualTo(new[] { "outbox" }));
    }

    [Test]
    public void A_framework_is_set_against_the_bare_driver_on_the_same_transport_in_the_same_mode()
    {
        var other = InventedRun.Cell("dtc-off") with { Framework = "another" };
        var elsewhere = other with { Transport = "elsewhere" };
        var run = new RecordedRun(
            InventedRun.Document,
            [
                .. InventedRun.Rounds,
                .. Enumerable.Range(1, 5).SelectMany(number => new[] { other, elsewhere }.Select(cell => InventedRun.Round("dtc-off", number, seconds: 7.12) with { Cell = cell })),
            ]);

        using (Assert.EnterMultipleScope())
        {
            Assert.That(run.AgainstBare(run.Cells.Single(result => result.Cell == other))!.Ratio, Is.EqualTo(0.5).Within(0.01));
            Assert.That(run.AgainstBare(run.Cells.Single(result => result.Cell == elsewhere)), Is.Null);
            Assert.That(SummaryTable.SpeedOf(run).Select(column => column.Header), Does.Contain("Ratio to bare"));
            Assert.That(SummaryTable.SpeedOf(new RecordedRun(InventedRun.Document, InventedRun.Rounds)).Select(column => column.Header), Does.Not.Contain("Ratio to bare"));
        }
    }

    [Test]
    public void Cells_are_in_the_order_of_the_modes_and_unknown_modes_come_last()
    {
        var run = new RecordedRun(
            InventedRun.Document with { Cells = [InventedRun.Cell("sagas"), InventedRun.Cell("npgsql-scope"), .. InventedRun.Document.Cells.Reverse()] },
            []);

        Assert.That(
            run.Cells.Select(result => result.Cell.Mode),
            Is.EqualTo(new[] { "full-dtc", "dtc-off", "scope-off", "transactions-off", "npgsql-scope", "sagas" }));
    }
}
