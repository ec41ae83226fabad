using Kit.Runner.Results;

namespace Kit.Tests.Results;

public sealed class FiguresAsWritten
{
    [TestCase(null, "–")]
    [TestCase(0, "0")]
    [TestCase(0.01234, "0.0123")]
    [TestCase(0.5, "0.500")]
    [TestCase(0.9996, "1.00")]
    [TestCase(2, "2.00")]
    [TestCase(12.34, "12.3")]
    [TestCase(99.96, "100")]
    [TestCase(300.8, "301")]
    [TestCase(999.6, "1,000")]
    [TestCase(1_234.5, "1,234")]
    [TestCase(12_345, "12,340")]
    [TestCase(1_234_567, "1,235,000")]
    [TestCase(-45.67, "-45.7")]
    public void Measured_figure_has_the_digits_that_were_measured(double? figure, string expected) =>
        Assert.That(Figures.Measured(figure), Is.EqualTo(expected));

    [TestCase(0, "0")]
    [TestCase(1_001_399, "1,001,399")]
    public void Count_is_written_in_full(long count, string expected) => Assert.That(Figures.Count(count), Is.EqualTo(expected));

    [TestCase(0.08, "8 %")]
    [TestCase(0.1337, "13.4 %")]
    [TestCase(0, "0 %")]
    [TestCase(0.0004, "< 0.1 %", Description = "Not none.")]
    [TestCase(0.0006, "0.1 %")]
    [TestCase(0.9996, "> 99.9 %", Description = "Not all.")]
    [TestCase(1, "100 %")]
    public void Share_is_in_percent(double share, string expected) => Assert.That(Figures.Share(share), Is.EqualTo(expected));

    [TestCase(3.0 / 982, "0.4 %")]
    [TestCase(0.3, "30 %")]
    public void A_bound_is_rounded_up(double bound, string expected) => Assert.That(Figures.ShareAtMost(bound), Is.EqualTo(expected));
}
