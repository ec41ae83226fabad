using Kit.Runner.Results;

namespace Kit.Tests.Results;

public sealed class RoundsThatCount
{
    private static readonly RoundDocument Quiet = With(InventedRun.Round("full-dtc", 1, seconds: 2), attempt: 1, share: 0.01);

    [Test]
    public void Valid_round_counts() => AssertCounts([Quiet], Quiet);

    [Test]
    public void Noisy_round_that_was_not_repeated_counts()
    {
        var noisy = With(Quiet, attempt: 1, share: 0.5);

        AssertCounts([noisy], noisy);
    }

    [Test]
    public void Quieter_attempt_counts()
    {
        var noisy = With(Quiet, attempt: 1, share: 0.5);
        var again = With(Quiet, attempt: 2, share: 0.01);

        AssertCounts([noisy, again], again);
    }

    [Test]
    public void First_attempt_counts_where_the_second_was_noisier()
    {
        var noisy = With(Quiet, attempt: 1, share: 0.1);
        var again = With(Quiet, attempt: 2, share: 0.2);

        AssertCounts([again, noisy], noisy);
    }

    [Test]
    public void Attempt_of_unknown_noise_does_not_replace_one_that_was_measured()
    {
        var noisy = With(Quiet, attempt: 1, share: 0.1);
        var unknown = With(Quiet, attempt: 2, share: null);

        AssertCounts([noisy, unknown], noisy);
    }

    [Test]
    public void Noisy_attempt_counts_where_its_repetition_is_invalid()
    {
        var noisy = With(Quiet, attempt: 1, share: 0.5);
        var again = With(Quiet, attempt: 2, share: 0.01) with { Outcome = RoundOutcome.Invalid(["messages lost: 1"]) };

        AssertCounts([noisy, again], noisy);
    }

    [Test]
    public void Failed_rounds_never_count()
    {
        var result = ResultOf(
        [
            Quiet with { Outcome = RoundOutcome.Invalid(["messages lost: 1"]) },
            Quiet with { Round = 2, Outcome = RoundOutcome.Stalled("no progress") },
            Quiet with { Round = 3, Outcome = RoundOutcome.Error("no server") },
        ]);

        using (Assert.EnterMultipleScope())
        {
            Assert.That(result.Counting, Is.Empty);
            Assert.That(result.Rate, Is.Null);
            Assert.That(result.MeanOf(round => round.Throughput.ElapsedSeconds), Is.Null);
        }
    }

    [Test]
    public void Mean_of_a_figure_that_one_round_lacks_is_not_known()
    {
        var result = ResultOf([Quiet, Quiet with { Round = 2, ColdPerSecond = null }]);

        using (Assert.EnterMultipleScope())
        {
            Assert.That(result.MeanOf(round => round.ColdPerSecond), Is.Null);
            Assert.That(result.MeanOf(round => round.RestoreSeconds), Is.EqualTo(1.5));
        }
    }

    [TestCase(0.08, false)]
    [TestCase(0.0801, true)]
    [TestCase(null, false)]
    public void Round_is_noisy_above_the_limit(double? share, bool noisy) =>
        Assert.That(With(Quiet, attempt: 1, share).Noise.IsNoisy(), Is.EqualTo(noisy));

    [TestCase(1.5, false)]
    [TestCase(1.501, true)]
    [TestCase(null, false)]
    public void Round_is_noisy_where_a_flush_took_much_longer_than_before_the_run(double? ratio, bool noisy)
    {
        var round = Quiet with { Noise = Quiet.Noise with { FlushRatio = ratio } };

        using (Assert.EnterMultipleScope())
        {
            Assert.That(round.Noise.IsNoisy(), Is.EqualTo(noisy));
            Assert.That(round.Noise.AreProcessorsNoisy(), Is.False);
        }
    }

    [Test]
    public void Of_two_attempts_the_one_with_the_quiet_disk_counts_even_where_its_processors_were_busier()
    {
        var slowDisk = Quiet with { Noise = Quiet.Noise with { FlushRatio = 2 } };
        var again = With(Quiet, attempt: 2, share: 0.07);

        AssertCounts([slowDisk, again], again);
    }

    /// <summary>Almost twice the time of a quiet flush is less than four times the share of quiet processors.</summary>
    [Test]
    public void Of_two_attempts_the_one_counts_that_is_less_far_above_its_limits()
    {
        var slowDisk = Flushing(With(Quiet, attempt: 1, share: 0.071), 1.93);
        var besideABuild = Flushing(With(Quiet, attempt: 2, share: 0.353), 1.2);

        AssertCounts([slowDisk, besideABuild], slowDisk);
    }

    [Test]
    public void A_flush_as_a_multiple_of_another_is_that_of_the_medians()
    {
        var usual = FlushTime.Of([0.1, 0.2, 0.3]);

        using (Assert.EnterMultipleScope())
        {
            Assert.That(usual, Is.EqualTo(new FlushTime(0.2, 0.3, 3)));
            Assert.That(FlushTime.Of([0.5]).Over(usual), Is.EqualTo(2.5));
        }
    }

    private static void AssertCounts(RoundDocument[] rounds, RoundDocument counting) =>
        Assert.That(ResultOf(rounds).Counting.Single(), Is.SameAs(counting));

    private static CellResult ResultOf(RoundDocument[] rounds) => new(Quiet.Cell, rounds);

    private static RoundDocument Flushing(RoundDocument round, double ratio) => round with { Noise = round.Noise with { FlushRatio = ratio } };

    private static RoundDocument With(RoundDocument round, int attempt, double? share) => round with
    {
        Attempt = attempt,
        Noise = new Noise(share is { } value ? Reading.Of(value) : Reading.Missing("no such counter"), Noise.DefaultLimit, null),
    };
}
