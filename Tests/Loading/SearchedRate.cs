using Kit.Runner.Loading;

namespace Kit.Tests.Loading;

[Parallelizable]
public sealed class SearchedRate
{
    [TestCase(100, 733)]
    [TestCase(5_000, 733)]
    [TestCase(1, 90_000)]
    [TestCase(100, 1.04)]
    public async Task It_ends_within_a_tenth_below_what_the_endpoint_can_do(double first, double capacity)
    {
        var tried = new List<double>();

        var found = await RateSearch.RunAsync(first, rate =>
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
    public async Task An_endpoint_that_sustains_nothing_has_no_rate() => Assert.That(await RateSearch.RunAsync(100, _ => Task.FromResult(false)), Is.Null);

    [Test]
    public async Task One_that_sustains_everything_has_the_highest() =>
        Assert.That(await RateSearch.RunAsync(100, _ => Task.FromResult(true)), Is.EqualTo(RateSearch.Highest));
}
