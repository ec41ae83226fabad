using System.Text.Json;
using Kit.Runner.Results;
using Kit.Runner.Results.Loads;

namespace Kit.Tests.Results.Loads;

[Parallelizable]
public sealed class TrendOfALoad
{
    private const double Hour = 3_600;

    [Test]
    public void What_never_changes_is_level() => Assert.That(Of(_ => 23), Is.EqualTo(new Trend(23, 23, 0, 0, 0, TrendVerdict.Level)));

    [Test]
    public void Digits_that_a_sum_makes_are_no_slope() => Assert.That((Of(_ => 67.1)!.PerHour, Of(_ => 67.1)!.High), Is.EqualTo((0d, 0d)));

    [Test]
    public void What_is_always_nothing_is_level() => Assert.That(Of(_ => 0)!.Verdict, Is.EqualTo(TrendVerdict.Level));

    [TestCase(1.5, TrendVerdict.Grows)]
    [TestCase(1.05, TrendVerdict.Level)]
    [TestCase(0.5, TrendVerdict.Falls)]
    public void A_straight_line_has_its_slope(double afterAnHour, TrendVerdict verdict)
    {
        var trend = Of(at => 100 + (100 * (afterAnHour - 1) * at / Hour))!;

        using (Assert.EnterMultipleScope())
        {
            Assert.That(trend.PerHour, Is.EqualTo(100 * (afterAnHour - 1)).Within(0.5));
            Assert.That(trend.Verdict, Is.EqualTo(verdict));
        }
    }

    [Test]
    public void The_beginning_does_not_count() => Assert.That(Of(at => at < 0.19 * Hour ? at : 700)!.Verdict, Is.EqualTo(TrendVerdict.Level));

    [Test]
    public void A_saw_tooth_is_level() => Assert.That(Of(at => 100 + (at % 60 / 2))!.Verdict, Is.EqualTo(TrendVerdict.Level));

    [Test]
    public void What_jumps_about_is_not_determined() =>
        Assert.That(Of(at => (int)(at / 450) % 3 == 0 ? 100 : 10)!.Verdict, Is.EqualTo(TrendVerdict.NotDetermined));

    [Test]
    public void The_interval_is_that_of_the_line_through_eight_means()
    {
        // Eight blocks of 450 s; the first fifth of 4,500 s is left out.
        var trend = Trend.Of(Enumerable.Range(0, 450).Select(at => (At: at * 10d, Value: ValueOf(at * 10))), seconds: 4_500)!;

        // By hand, for 1 to 7 and 9: slope 45.5 / 42, sum of squared residuals 7 / 12, t(0.975; 6) = 2.44691.
        using (Assert.EnterMultipleScope())
        {
            Assert.That(trend.PerHour / Hour * 450, Is.EqualTo(1.083333).Within(1e-6));
            Assert.That(trend.Low / Hour * 450, Is.EqualTo(0.9656).Within(1e-4));
            Assert.That(trend.High / Hour * 450, Is.EqualTo(1.2011).Within(1e-4));
            Assert.That((trend.First, trend.Last), Is.EqualTo((1d, 9d)));
        }

        static double ValueOf(double at) => (int)((at - 900) / 450) is var block && block == 7 ? 9 : block + 1;
    }

    [Test]
    public void A_short_load_has_none() => Assert.That(Trend.Of([(1, 1), (599, 1)], seconds: 599), Is.Null);

    [Test]
    public void A_gap_in_the_samples_has_none() => Assert.That(
        Trend.Of(Enumerable.Range(0, 360).Where(at => at is < 200 or > 260).Select(at => (at * 10d, 1d)), Hour), Is.Null);

    [Test]
    public void It_is_stored_with_its_verdict()
    {
        var trend = Of(at => at)!;

        Assert.That(JsonSerializer.Deserialize<Trend>(JsonSerializer.Serialize(trend, ResultJson.Options), ResultJson.Options), Is.EqualTo(trend));
    }

    private static Trend? Of(Func<double, double> valueAt) => Trend.Of(Enumerable.Range(0, 360).Select(at => (at * 10d, valueAt(at * 10))), Hour);
}
