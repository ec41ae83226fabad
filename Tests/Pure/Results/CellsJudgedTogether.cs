using Kit.Runner.Results;
using MathNet.Numerics.Distributions;

namespace Kit.Tests.Results;

public sealed class CellsJudgedTogether
{
    private const int Seed = 20261122;

    /// <summary>
    /// Four p-values, alpha 5 %: 0.005 ≤ 0.05 / 4 and 0.01 ≤ 0.05 / 3 are shown; 0.03 &gt; 0.05 / 2 is not, so 0.04 is not either.
    /// </summary>
    [Test]
    public void Levels_are_holm_s() =>
        Assert.That(
            Holm.LevelsOf([0.01, 0.04, 0.03, 0.005], 0.05), Is.EqualTo(new[] { 0.05 / 3, 0.05 / 2, 0.05 / 2, 0.05 / 4 }).Within(1e-12));

    /// <summary>
    /// 0.04 would be shown by itself, and 0.024 by the level of the second; the first that fails ends it for all after it.
    /// </summary>
    [Test]
    public void What_comes_after_a_failure_fails() =>
        Assert.That(Holm.LevelsOf([0.03, 0.04], 0.05), Is.EqualTo(new[] { 0.025, 0.025 }).Within(1e-12));

    [Test]
    public void One_alone_is_not_adjusted() => Assert.That(Holm.LevelsOf([0.2], 0.05), Is.EqualTo(new[] { 0.05 }));

    [Test]
    public void None_have_no_levels() => Assert.That(Holm.LevelsOf([], 0.05), Is.Empty);

    [TestCase(0.95, ComparisonVerdict.Slower)]
    [TestCase(0.972, ComparisonVerdict.NoClearDifference, Description = "Slower than the reference for sure, and by less than the margin.")]
    [TestCase(1, ComparisonVerdict.NoClearDifference)]
    [TestCase(1.028, ComparisonVerdict.NoClearDifference)]
    [TestCase(1.05, ComparisonVerdict.Faster)]
    public void A_difference_is_said_only_beyond_the_margin(double ratio, ComparisonVerdict expected) =>
        Assert.That(Judge(RatioOf(ratio, error: 0.0001)).Verdict, Is.EqualTo(expected));

    [TestCase(0.9, 0.01, ComparisonVerdict.Slower)]
    [TestCase(0.9, 0.04, ComparisonVerdict.NoClearDifference)]
    public void A_difference_is_said_only_where_the_interval_lies_beyond_it(double ratio, double error, ComparisonVerdict expected) =>
        Assert.That(Judge(RatioOf(ratio, error)).Verdict, Is.EqualTo(expected));

    /// <summary>t(4 degrees) = (ln(1 / 0.9) − ln(1 / 0.97)) / 0.024 = 3.121, p = 0.0355: shown alone, not among ten.</summary>
    [Test]
    public void What_is_shown_alone_may_not_be_shown_among_many()
    {
        var slower = RatioOf(0.9, error: 0.024);
        var among = Comparison.OfAll([slower, .. Enumerable.Repeat(RatioOf(1, error: 0.024), 9)], Margin.Default);

        using (Assert.EnterMultipleScope())
        {
            Assert.That(Judge(slower).Verdict, Is.EqualTo(ComparisonVerdict.Slower));
            Assert.That(among[0].Verdict, Is.EqualTo(ComparisonVerdict.NoClearDifference));
            Assert.That(among[0].Level, Is.EqualTo(0.005).Within(1e-12));
            Assert.That(among[0].Interval, Is.EqualTo(Judge(slower).Interval));
            Assert.That(among[0].Adjusted!.High, Is.GreaterThan(0.97));
        }
    }

    [Test]
    public void Cells_of_too_few_rounds_are_not_judged_and_not_counted()
    {
        var few = RatioOf(0.5, error: 0.0001) with { Pairs = 4 };

        var judged = Comparison.OfAll([few, RatioOf(0.9, error: 0.024), few], Margin.Default);

        using (Assert.EnterMultipleScope())
        {
            Assert.That(judged.Select(each => each.Verdict), Is.EqualTo(
                new[] { ComparisonVerdict.TooFewRounds, ComparisonVerdict.Slower, ComparisonVerdict.TooFewRounds }));
            Assert.That(judged[1].Level, Is.EqualTo(0.05));
            Assert.That(judged[0].ToString(), Is.EqualTo("0.500 (n < 5)"));
        }
    }

    /// <summary>A cell whose sends a broker keeps in memory does other work, and is not judged, nor counted among those that are.</summary>
    [Test]
    public void Persistent_sends_and_others_have_no_verdict_on_each_other()
    {
        var judged = new[] { ("bare", "scope-off", 2d), ("wolverine", "scope-off", 1d), ("bare", "outbox", 2d), ("masstransit", "outbox", 4d) };
        var run = new RecordedRun(
            InventedRun.Document with { Cells = [] },
            [
                .. from cell in judged
                   from number in Enumerable.Range(1, 5)
                   select InventedRun.Round("shared", number, cell.Item3 + (0.001 * number)) with
                   {
                       Cell = new CellName(("framework", cell.Item1), ("transport", "rabbitmq"), ("mode", cell.Item2), ("scenario", "insert-and-send")),
                   },
            ]);

        var toBare = run.Cells.ToDictionary(cell => (cell.Cell.Framework, cell.Cell.Mode), run.AgainstBare);

        using (Assert.EnterMultipleScope())
        {
            Assert.That($"{toBare[("wolverine", "scope-off")]}", Does.Match(@"^2\.00 \(.+ to .+, sends not persistent\)$"));
            Assert.That(toBare[("masstransit", "outbox")]!.Verdict, Is.EqualTo(ComparisonVerdict.Slower));
            Assert.That(toBare[("masstransit", "outbox")]!.Level, Is.EqualTo(0.05), "it is judged alone");
        }
    }

    [TestCase(0.9, 0.01, "0.900 (0.875 to 0.925, slower)")]
    [TestCase(1.2, 0.01, "1.20 (1.17 to 1.23, faster)")]
    [TestCase(1.01, 0.01, "1.01 (0.982 to 1.04, no clear difference)")]
    public void A_ratio_is_written_with_its_interval_and_verdict(double ratio, double error, string expected) =>
        Assert.That(Judge(RatioOf(ratio, error)).ToString(), Is.EqualTo(expected));

    [Test]
    public void Exchanging_the_sides_exchanges_the_verdicts()
    {
        var random = new Random(Seed);
        var opposite = new Dictionary<ComparisonVerdict, ComparisonVerdict>
        {
            [ComparisonVerdict.Faster] = ComparisonVerdict.Slower,
            [ComparisonVerdict.Slower] = ComparisonVerdict.Faster,
            [ComparisonVerdict.NoClearDifference] = ComparisonVerdict.NoClearDifference,
        };
        for (var trial = 0; trial < 200; trial++)
        {
            var cells = Enumerable.Range(0, 5).Select(cell => Pairs(random, rounds: 8, slowdown: 0.03 * cell)).ToList();

            var verdicts = VerdictsOf(cells, Margin.Default);
            var exchanged = VerdictsOf(cells.Select(pairs => pairs.ConvertAll(pair => (pair.Reference, pair.Rate))), Margin.Default);

            Assert.That(exchanged, Is.EqualTo(verdicts.Select(verdict => opposite[verdict])));
        }
    }

    /// <summary>
    /// Holm promises at most 5 % of comparisons with any false verdict among their cells; 2,000 of them show more than 6.5 % with a
    /// probability below one in a hundred if it keeps that. Without a margin, which only makes verdicts rarer.
    /// </summary>
    [Test]
    public void Equal_builds_rarely_differ()
    {
        var random = new Random(Seed);

        var wrong = Enumerable.Range(0, 2_000).Count(
            _ => VerdictsOf(Equal(random), new Margin(0)).Exists(verdict => verdict is not ComparisonVerdict.NoClearDifference));

        Assert.That(wrong / 2_000.0, Is.InRange(0.02, 0.065));
    }

    [Test]
    public void Equal_builds_hardly_ever_differ_by_more_than_the_margin()
    {
        var random = new Random(Seed);

        var wrong = Enumerable.Range(0, 2_000).Count(
            _ => VerdictsOf(Equal(random), Margin.Default).Exists(verdict => verdict is not ComparisonVerdict.NoClearDifference));

        Assert.That(wrong / 2_000.0, Is.LessThan(0.01));
    }

    [Test]
    public void A_cell_that_is_slower_by_a_tenth_is_found_and_no_other_is_blamed()
    {
        var random = new Random(Seed);

        var found = Enumerable.Range(0, 500)
            .Select(_ => VerdictsOf([Pairs(random, rounds: 20, slowdown: 0.1), .. Equal(random, rounds: 20).Skip(1)], Margin.Default))
            .Count(verdicts => verdicts[0] is ComparisonVerdict.Slower && verdicts.Skip(1).All(
                verdict => verdict is ComparisonVerdict.NoClearDifference));

        Assert.That(found, Is.GreaterThan(450));
    }

    private static List<List<(double Rate, double Reference)>> Equal(Random random, int rounds = 10) =>
        [.. Enumerable.Range(0, 4).Select(_ => Pairs(random, rounds, slowdown: 0))];

    /// <summary>
    /// Rounds as a machine makes them: a fifth more or less from minute to minute, which meets both, and 5 % for each round by itself.
    /// </summary>
    private static List<(double Rate, double Reference)> Pairs(Random random, int rounds, double slowdown) =>
    [
        .. Enumerable.Range(0, rounds).Select(_ =>
        {
            var minute = 2_000 * Math.Exp(Normal.Sample(random, 0, 0.2));
            return (minute * (1 - slowdown) * Math.Exp(Normal.Sample(random, 0, 0.05)), minute * Math.Exp(Normal.Sample(random, 0, 0.05)));
        }),
    ];

    private static List<ComparisonVerdict> VerdictsOf(IEnumerable<List<(double Rate, double Reference)>> cells, Margin margin) =>
        [.. Comparison.OfAll([.. cells.Select(pairs => RateRatio.OfPairs(pairs)!)], margin).Select(each => each.Verdict)];

    private static Comparison Judge(RateRatio ratio) => Comparison.OfAll([ratio], Margin.Default).Single();

    private static RateRatio RatioOf(double ratio, double error) => new(Math.Log(ratio), error, Freedom: 4, Pairs: 5);
}
