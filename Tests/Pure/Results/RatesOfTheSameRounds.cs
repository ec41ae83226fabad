using Kit.Runner.Results;

namespace Kit.Tests.Results;

public sealed class RatesOfTheSameRounds
{
    // "Student", The Probable Error of a Mean, Biometrika 6, 1908: hours of sleep that ten patients gained by two drugs.
    private static readonly double[] FirstDrug = [0.7, -1.6, -0.2, -1.2, -0.1, 3.4, 3.7, 0.8, 0, 2];
    private static readonly double[] SecondDrug = [1.9, 0.8, 1.1, 0.1, -0.1, 4.4, 5.5, 1.6, 4.6, 3.4];

    private static readonly (double, double)[] Rates = [(110, 100), (210, 200), (55, 50), (330, 300), (104, 100)];

    [Test]
    public void No_pairs_have_no_ratio() => Assert.That(RateRatio.OfPairs([]), Is.Null);

    [Test]
    public void One_pair_has_a_ratio_and_no_interval()
    {
        var ratio = RateRatio.OfPairs([(110, 100)])!;

        using (Assert.EnterMultipleScope())
        {
            Assert.That(ratio.Value, Is.EqualTo(1.1).Within(1e-12));
            Assert.That(ratio.IntervalAt(0.05), Is.Null);
            Assert.That(ratio.ProbabilityWithin(new Margin(0)), Is.EqualTo(1));
        }
    }

    /// <summary>
    /// What every textbook and R's <c>t.test(paired = TRUE)</c> give: mean −1.58, from −2.459886 to −0.700114, p 0.002833.
    /// </summary>
    [Test]
    public void Student_s_own_example_gives_student_s_result()
    {
        var ratio = RateRatio.OfPairs([.. FirstDrug.Zip(SecondDrug, (first, second) => (Math.Exp(first), Math.Exp(second)))])!;
        var interval = ratio.IntervalAt(0.05)!;

        using (Assert.EnterMultipleScope())
        {
            Assert.That(ratio.Log, Is.EqualTo(-1.58).Within(1e-9));
            Assert.That(Math.Log(interval.Low), Is.EqualTo(-2.459886).Within(1e-6));
            Assert.That(Math.Log(interval.High), Is.EqualTo(-0.700114).Within(1e-6));
            Assert.That(ratio.ProbabilityWithin(new Margin(0)), Is.EqualTo(0.002833).Within(1e-6));
        }
    }

    /// <summary>
    /// By numerical integration of the density of t with 4 degrees of freedom: t = (0.074788 − ln(1 / 0.97)) / 0.012658 = 3.502115.
    /// </summary>
    [Test]
    public void A_margin_is_taken_off_before_the_difference_is_judged()
    {
        var ratio = RateRatio.OfPairs(Rates)!;

        using (Assert.EnterMultipleScope())
        {
            Assert.That(ratio.Value, Is.EqualTo(1.077656).Within(1e-6));
            Assert.That(ratio.IntervalAt(0.05)!.Low, Is.EqualTo(1.040441).Within(1e-6));
            Assert.That(ratio.IntervalAt(0.05)!.High, Is.EqualTo(1.116202).Within(1e-6));
            Assert.That(ratio.ProbabilityWithin(new Margin(0)), Is.EqualTo(0.004107).Within(1e-6));
            Assert.That(ratio.ProbabilityWithin(new Margin(0.03)), Is.EqualTo(0.024849).Within(1e-6));
            Assert.That(ratio.ProbabilityWithin(new Margin(0.08)), Is.EqualTo(1));
        }
    }

    /// <summary>The probability is the alpha at which the interval's end touches the margin.</summary>
    [TestCase(0)]
    [TestCase(0.03)]
    [TestCase(0.05)]
    public void Interval_and_probability_say_the_same(double share)
    {
        var (ratio, margin) = (RateRatio.OfPairs(Rates)!, new Margin(share));

        Assert.That(ratio.IntervalAt(ratio.ProbabilityWithin(margin))!.Low, Is.EqualTo(1 / (1 - share)).Within(1e-6));
    }

    [Test]
    public void A_slow_minute_that_meets_both_does_not_widen_the_interval()
    {
        var ratio = RateRatio.OfPairs([(200, 100), (100, 50), (20, 10), (180, 90), (2, 1)])!;

        Assert.That(ratio.IntervalAt(0.05)!.High, Is.EqualTo(2).Within(1e-12));
    }

    [Test]
    public void Exchanging_the_sides_turns_the_interval_over()
    {
        var ratio = RateRatio.OfPairs(Rates)!.IntervalAt(0.05)!;
        var exchanged = RateRatio.OfPairs([.. Rates.Select(pair => (pair.Item2, pair.Item1))])!.IntervalAt(0.05)!;

        Assert.That((1 / exchanged.High, 1 / exchanged.Low), Is.EqualTo((ratio.Low, ratio.High)).Within(1e-12));
    }

    [TestCase(0, 1)]
    [TestCase(1, 0)]
    [TestCase(-1, 1)]
    public void A_rate_that_no_round_can_have_is_refused(double rate, double reference) =>
        Assert.That(() => RateRatio.OfPairs([(rate, reference)]), Throws.InstanceOf<ArgumentOutOfRangeException>());

    /// <summary>Welch: √(0.012658² + 0.03²), and (0.012658² + 0.03²)² / (0.012658⁴ / 4 + 0.03⁴ / 3).</summary>
    [Test]
    public void Two_ratios_of_two_runs_have_the_errors_of_both()
    {
        var both = RateRatio.OfPairs(Rates)!.Over(new RateRatio(Log: 0.02, Error: 0.03, Freedom: 3, Pairs: 4));

        using (Assert.EnterMultipleScope())
        {
            Assert.That(both.Log, Is.EqualTo(0.054788).Within(1e-6));
            Assert.That(both.Error, Is.EqualTo(0.032561).Within(1e-6));
            Assert.That(both.Freedom, Is.EqualTo(4.066551).Within(1e-6));
            Assert.That(both.Pairs, Is.EqualTo(4));
        }
    }

    [Test]
    public void Two_ratios_of_which_one_has_no_error_have_none() =>
        Assert.That(RateRatio.OfPairs(Rates)!.Over(RateRatio.OfPairs([(1, 1)])!).IntervalAt(0.05), Is.Null);

    [Test]
    public void Two_ratios_without_any_spread_have_an_interval_without_width()
    {
        var still = RateRatio.OfPairs([(2, 1), (2, 1), (2, 1)])!;

        Assert.That(still.Over(still).IntervalAt(0.05), Is.EqualTo(new RatioInterval(1, 1)));
    }

    [Test]
    public void Only_rounds_that_count_in_both_cells_are_paired()
    {
        var mine = CellOf(
            InventedRun.Round("full-dtc", 1, seconds: 1),
            Failed(InventedRun.Round("full-dtc", 2, seconds: 9)),
            InventedRun.Round("full-dtc", 3, seconds: 2));
        var other = CellOf(InventedRun.Round("shared", 1, seconds: 2), InventedRun.Round("shared", 2, seconds: 2), InventedRun.Round(
            "shared", 3, seconds: 4));

        var ratio = mine.Against(other)!;

        Assert.That((ratio.Pairs, ratio.Value), Is.EqualTo((2, 2d)).Within(1e-9));
        Assert.That(CellOf(Failed(InventedRun.Round("full-dtc", 1, seconds: 1))).Against(other), Is.Null);
    }

    private static CellResult CellOf(params RoundDocument[] rounds) => new(rounds[0].Cell, rounds);

    private static RoundDocument Failed(RoundDocument round) => round with { Outcome = RoundOutcome.Invalid(["messages lost: 1"]) };
}
