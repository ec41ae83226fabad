using Kit.Benchmarks;
using Kit.Benchmarks.Floor;
using Kit.Runner.Results;

namespace Kit.Tests.Benchmarks;

public sealed class RatesOfAContest
{
    private static readonly ContestResult Failed = ContestResult.Failed("invented");

    [Test]
    public void A_rate_counts_the_commits_after_the_first() =>
        Assert.That(Valid(500, 1_000, 1_500, 2_500).PerSecond, Is.EqualTo(1.5));

    [Test]
    public void One_commit_or_none_has_no_rate() =>
        Assert.That(new[] { Valid(), Valid(500), Valid(500, 500) }.Select(result => result.PerSecond), Is.All.Null);

    [Test]
    public void A_round_that_does_not_count_has_no_rate() =>
        Assert.That((Valid(0, 1_000) with { Outcome = RoundOutcome.Invalid(["invented"]) }).PerSecond, Is.Null);

    [Test]
    public void The_median_leaves_out_what_is_not_there() => Assert.Multiple(() =>
    {
        Assert.That(Median.Of([3, null, 1, 2]), Is.EqualTo(2));
        Assert.That(Median.Of([4, 1, 2, 3]), Is.EqualTo(2.5));
        Assert.That(Median.Of([null]), Is.Null);
    });

    private static ContestResult Valid(params double[] offsets) => Failed with { Outcome = RoundOutcome.Valid, Offsets = offsets };
}
