using Kit.Runner.Results;

namespace Kit.Tests.Results.Pages;

/// <summary>It claims what the run shows, and no more.</summary>
public sealed class SentenceThatSurprises
{
    [TestCase(
        0.8,
        "was faster than no transactions at all: 500 messages a second, and `transactions-off` 400.** Ratio, round by round: 1.25 (1.25 to 1.25, faster).")]
    [TestCase(1.25, "was slower than no transactions at all: 320 messages a second")]
    [TestCase(0.99, "shows no clear difference to no transactions at all: 404 messages a second")]
    public void Follows_the_interval_of_the_ratio(double seconds, string sentence) => Assert.That(
        SentenceOf(Enumerable.Range(1, 5).Select(number => InventedRun.Round("shared", number, seconds))),
        Does.StartWith($"**In this run `shared` handled each message exactly once, and {sentence}"));

    [Test]
    public void Does_not_call_scattered_rounds_faster() => Assert.That(
        SentenceOf(Enumerable.Range(1, 5).Select(number => InventedRun.Round("shared", number, number % 2 == 0 ? 0.4 : 1.1))),
        Does.Contain("and shows no clear difference to no transactions at all: "));

    [Test]
    public void Gives_no_verdict_on_few_rounds() => Assert.That(
        SentenceOf(Enumerable.Range(1, 5).Select(number => InventedRun.Round("shared", number, 0.5) with
        {
            Outcome = number > 2 ? RoundOutcome.Invalid(["invented"]) : RoundOutcome.Valid,
        })),
        Does.Contain("in too few rounds for a verdict: 800 messages a second").And.EndsWith("Ratio, round by round: 2.00 (n < 5)."));

    private static string SentenceOf(IEnumerable<RoundDocument> shared)
    {
        using var repository = new InventedRepository();
        repository.SaveRun("results/run", [.. shared, .. Enumerable.Range(1, 5).Select(number => InventedRun.Round("transactions-off", number, seconds: 1))]);
        repository.SaveStorms("results/storms");
        return repository.Made("surprise from results/run, results/storms");
    }
}
