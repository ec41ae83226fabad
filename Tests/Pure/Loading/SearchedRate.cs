using Kit.Runner.Measuring;
using Kit.Runner.Results;
using Kit.Runner.Results.Loads;
using Kit.Tests.Results.Loads;

namespace Kit.Tests.Loading;

[Parallelizable]
public sealed class SearchedRate
{
    private static readonly TimeSpan Long = TimeSpan.FromSeconds(100);
    private static readonly LoadResult Late = InventedLoads.Good with { SenderLag = new Latency(1, 10, 30, 40, 50) };
    private static readonly LoadResult Behind = InventedLoads.Good with { Backlog = new Backlog(2, 2_000) };

    [TestCase(100, 733)]
    [TestCase(5_000, 733)]
    [TestCase(1, 90_000)]
    [TestCase(100, 1.04)]
    public async Task It_ends_within_a_tenth_below_what_the_endpoint_can_do(double first, double capacity)
    {
        var tried = new List<double>();

        var found = await RateSearch.RunAsync(first, Long, rate =>
        {
            tried.Add(rate);
            return Task.FromResult(rate <= capacity);
        });

        using (Assert.EnterMultipleScope())
        {
            Assert.That(found, Is.LessThanOrEqualTo(capacity).And.GreaterThanOrEqualTo(capacity / RateSearch.Close));
            Assert.That(tried, Is.Unique);
            Assert.That(tried, Has.Count.LessThan(25));
        }
    }

    [Test]
    public async Task An_endpoint_that_sustains_nothing_has_no_rate() =>
        Assert.That(await RateSearch.RunAsync(100, Long, _ => Task.FromResult(false)), Is.Null);

    /// <summary>A p99 needs 100 messages.</summary>
    [TestCase(100)]
    [TestCase(2)]
    public async Task A_rate_with_too_few_messages_is_not_tried(double first)
    {
        var tried = new List<double>();

        await RateSearch.RunAsync(first, TimeSpan.FromSeconds(5), rate =>
        {
            tried.Add(rate);
            return Task.FromResult(false);
        });

        Assert.That(tried, Is.Not.Empty.And.All.GreaterThanOrEqualTo(20));
    }

    /// <summary>A schedule has whole messages: a rate that is rounded down has 99 of them.</summary>
    [TestCase(5)]
    [TestCase(7)]
    [TestCase(60)]
    [TestCase(97)]
    [TestCase(1_000)]
    public async Task The_lowest_rate_has_the_messages_of_a_p99(int seconds)
    {
        var length = TimeSpan.FromSeconds(seconds);
        var tried = new List<double>();

        await RateSearch.RunAsync(RateSearch.Lowest, length, rate =>
        {
            tried.Add(rate);
            return Task.FromResult(false);
        });

        var lowest = tried.Single();
        Assert.That(new Schedule(lowest, length).Messages, Is.GreaterThanOrEqualTo(Quantile.NeededFor(0.99)));
        Assert.That(lowest, Is.EqualTo(RateSearch.Lowest).Or.LessThan((Quantile.NeededFor(0.99) / length.TotalSeconds) + 0.1), "no higher than it must be");
    }

    [Test]
    public async Task One_that_sustains_everything_has_the_highest() =>
        Assert.That(await RateSearch.RunAsync(100, Long, _ => Task.FromResult(true)), Is.EqualTo(RateSearch.Highest));

    [Test]
    public async Task Each_share_of_the_found_rate_is_loaded_also_below_one_a_second()
    {
        var loaded = new List<(double Rate, double Share)>();

        await RateSearch.LoadAsync([new OpenLoad(15)], Long, limitMilliseconds: 1_000, [0.01, 0.05, 0.5], (shape, share) =>
        {
            var rate = ((OpenLoad)shape).Rate;
            if (share is { } known)
                loaded.Add((rate, known));
            return Task.FromResult(rate <= 15 ? InventedLoads.Good : Behind);
        });

        Assert.That(loaded, Is.EqualTo([(0.15, 0.01), (0.75, 0.05), (7.5, 0.5)]));
    }

    /// <summary>The sender is the kit's own.</summary>
    [TestCase("late", "late", "good", ExpectedResult = "True after 3")]
    [TestCase("late", "late", "late", "good", ExpectedResult = "False after 3")]
    [TestCase("late", "behind", "good", ExpectedResult = "False after 2")]
    [TestCase("late and behind", "good", ExpectedResult = "False after 1")]
    [TestCase("step", "good", ExpectedResult = "True after 2")]
    [TestCase("step", "late", "step", "good", ExpectedResult = "False after 3")]
    public async Task<string> A_rate_that_shows_nothing_of_the_endpoint_is_tried_again(params string[] loads)
    {
        var tries = 0;

        var isSustained = await RateSearch.TryAsync(limitMilliseconds: 1_000, () => Task.FromResult(loads[tries++] switch
        {
            "good" => InventedLoads.Good,
            "late" => Late,
            "behind" => Behind,
            "step" => Behind with { Outcome = RoundOutcome.Invalid(["the machine's clock made a step of 10 ms"]), IsClockAlone = true },
            "late and behind" => Behind with { SenderLag = Late.SenderLag },
            var other => throw new NotSupportedException(other),
        }));

        return $"{isSustained} after {tries}";
    }
}
