using Kit.Runner.Results;

namespace Kit.Tests.Results;

[Parallelizable]
public sealed class PrecisionOfARun
{
    [TestCase(7, 0.001, false, Description = "The first rounds may agree by chance.")]
    [TestCase(8, 0.03, true)]
    [TestCase(8, 0.031, false)]
    [TestCase(8, double.PositiveInfinity, false)]
    [TestCase(40, null, false, Description = "A run without a ratio never has it.")]
    public void Is_reached_by_the_widest_interval_after_enough_rounds(int round, double? widest, bool isReached) =>
        Assert.That(new Precision(0.03, MostRounds: 40, Widest: null).IsReached(round, widest), Is.EqualTo(isReached));

    [Test]
    public void The_widest_interval_is_that_of_any_column_of_ratios()
    {
        var run = InventedRun.Recorded;
        var reach = run.Cells
            .SelectMany(cell => new[] { run.AgainstStrictest(cell), run.AgainstBare(cell), run.AgainstDefault(cell) })
            .OfType<Comparison>()
            .Select(compared => compared.Ratio.IntervalAt(Comparison.Alpha) is { } interval
                ? (interval.High / compared.Ratio.Value) - 1
                : double.PositiveInfinity);

        Assert.That(run.WidestInterval, Is.EqualTo(reach.Max()));
    }

    [TestCase(0.028, "; reached after 12 rounds: 2.8 %.")]
    [TestCase(0.051, "; not reached in 12 rounds: 5.1 %.")]
    [TestCase(null, "; no ratio was measured.")]
    public void The_report_says_that_stopping_depended_on_the_data(double? widest, string state) => Assert.That(
        new Precision(0.03, MostRounds: 40, widest).Text(12),
        Does.Contain("at most 3 % from it").And.Contain(state).And.Contain("The number of rounds depended on the data"));
}
