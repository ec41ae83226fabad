using Kit.Runner.Results;

namespace Kit.Tests.Results;

public sealed class ComparedMeans
{
    [Test]
    public void No_figures_have_no_mean() => Assert.That(Estimate.Of([]), Is.Null);

    [Test]
    public void One_figure_has_a_mean_and_no_interval() =>
        Assert.That(Estimate.Of([42]), Is.EqualTo(new Estimate(42, Factor: null, Count: 1)));

    /// <summary>By hand: s = √2.5, t(0.975; 4) = 2.776445, factor = exp(2.776445 · √2.5 / √5 / 3).</summary>
    [Test]
    public void Five_figures_have_the_interval_of_students_t_on_a_scale_of_logarithms()
    {
        var estimate = Estimate.Of([1, 2, 3, 4, 5])!;

        using (Assert.EnterMultipleScope())
        {
            Assert.That(estimate.Mean, Is.EqualTo(3));
            Assert.That(estimate.Factor, Is.EqualTo(1.924016).Within(1e-6));
            Assert.That(estimate.Low, Is.EqualTo(1.559239).Within(1e-6));
            Assert.That(estimate.High, Is.EqualTo(5.772047).Within(1e-6));
        }
    }

    [Test]
    public void Equal_figures_have_an_interval_without_width() => Assert.That(Estimate.Of([7, 7, 7])!.Factor, Is.EqualTo(1));

    [TestCase(100, 2_000)]
    [TestCase(1, 1_000_000)]
    [TestCase(1, 1, 1, 1, 1_000_000)]
    public void An_interval_holds_its_mean_and_never_reaches_below_zero(params double[] rates)
    {
        var estimate = Estimate.Of(rates)!;

        using (Assert.EnterMultipleScope())
        {
            Assert.That(estimate.Low, Is.Positive.And.LessThan(estimate.Mean));
            Assert.That(estimate.High, Is.GreaterThan(estimate.Mean).And.LessThan(double.PositiveInfinity));
        }
    }

    /// <summary>As rounds mostly are: a spread of some percent. The limits are those of x̄ ± t · s / √n but for a thousandth.</summary>
    [Test]
    public void Close_figures_have_nearly_the_interval_of_a_straight_scale()
    {
        double[] rates = [1_960, 1_990, 2_000, 2_010, 2_040];
        var (estimate, half) = (Estimate.Of(rates)!, 2.776445 * Math.Sqrt(850 / 5.0));

        Assert.That(estimate.Low, Is.EqualTo(2_000 - half).Within(0.1).Percent);
        Assert.That(estimate.High, Is.EqualTo(2_000 + half).Within(0.1).Percent);
    }

    [TestCase(0)]
    [TestCase(-1)]
    public void A_rate_that_no_round_can_have_is_refused(double rate) =>
        Assert.That(() => Estimate.Of([5, rate]), Throws.InstanceOf<ArgumentOutOfRangeException>());

    [Test]
    public void Baseline_is_the_strictest_mode_of_the_same_access_library()
    {
        var other = InventedRun.Cell("dtc-off", access: "dapper");
        var run = new RecordedRun(
            InventedRun.Document,
            [.. InventedRun.Rounds, .. Enumerable.Range(1, 5).Select(number => InventedRun.Round("dtc-off", number, seconds: 1) with { Cell = other })]);

        using (Assert.EnterMultipleScope())
        {
            Assert.That(run.IsStrictest(ResultOf(other)));
            Assert.That(run.IsStrictest(ResultOf(InventedRun.Cell("full-dtc"))));
            Assert.That(run.AgainstStrictest(ResultOf(other)), Is.Null);
            Assert.That(run.AgainstStrictest(ResultOf(InventedRun.Cell("dtc-off")))!.Ratio.Value, Is.EqualTo(1.14).Within(0.01));
        }

        CellResult ResultOf(CellName cell) => run.Cells.Single(result => result.Cell == cell);
    }

    [Test]
    public void Strictest_is_the_mode_to_which_a_crash_can_do_least()
    {
        var cells = new[] { "dtc-off", "outbox", "scope-off" }.Select(mode => InventedRun.Cell(mode)).ToList();
        var run = new RecordedRun(InventedRun.Document with { Cells = cells }, []);

        Assert.That(run.Cells.Where(run.IsStrictest).Select(result => result.Cell.Mode), Is.EqualTo(new[] { "outbox" }));
    }

    [Test]
    public void A_framework_is_set_against_the_bare_driver_on_the_same_transport_in_the_same_mode()
    {
        var other = InventedRun.Cell("dtc-off", framework: "another");
        var elsewhere = InventedRun.Cell("dtc-off", framework: "another", transport: "elsewhere");
        var run = new RecordedRun(
            InventedRun.Document,
            [
                .. InventedRun.Rounds,
                .. Enumerable.Range(1, 5)
                    .SelectMany(number => new[] { other, elsewhere }.Select(cell => InventedRun.Round("dtc-off", number, seconds: 7.12) with { Cell = cell })),
            ]);

        using (Assert.EnterMultipleScope())
        {
            Assert.That(run.AgainstBare(run.Cells.Single(result => result.Cell == other))!.Ratio.Value, Is.EqualTo(0.5).Within(0.01));
            Assert.That(run.AgainstBare(run.Cells.Single(result => result.Cell == elsewhere)), Is.Null);
            Assert.That(SummaryTable.SpeedOf(run).Select(column => column.Header), Does.Contain("Ratio to bare"));
            Assert.That(
                SummaryTable.SpeedOf(new RecordedRun(InventedRun.Document, InventedRun.Rounds)).Select(column => column.Header),
                Does.Not.Contain("Ratio to bare"));
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
