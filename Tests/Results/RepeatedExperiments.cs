using Kit.Runner.Results;
using Kit.Runner.Results.Published;

namespace Kit.Tests.Results;

/// <summary>What a published table and ours have in common.</summary>
[Parallelizable]
public sealed class RepeatedExperiments
{
    [TestCase(1.6, new[] { 1.5, 1.6, 1.7, 1.6, 1.6 }, ExpectedResult = Agreement.Agrees)]
    [TestCase(1.6, new[] { 3.1, 3.0, 3.2, 3.1, 3.0 }, ExpectedResult = Agreement.SameDirection)]
    [TestCase(0.6, new[] { 0.4, 0.41, 0.4, 0.39, 0.4 }, ExpectedResult = Agreement.SameDirection)]
    [TestCase(1.6, new[] { 0.5, 0.5, 0.6, 0.5, 0.5 }, ExpectedResult = Agreement.Opposite)]
    [TestCase(1.6, new[] { 0.9, 1.1, 1.0, 1.0, 1.1 }, ExpectedResult = Agreement.NoClearDifference)]
    [TestCase(1.6, new[] { 1.6, 1.6 }, ExpectedResult = Agreement.TooFewRounds)]
    [TestCase(1.6, new double[0], ExpectedResult = Agreement.NotMeasured)]
    public Agreement A_ratio_is_judged_by_our_interval(double published, double[] ours) =>
        new RepeatedRow(Row, published, 500, RateRatio.OfPairs([.. ours.Select(ratio => (ratio, 1d))])).Agreement;

    [Test]
    public void The_base_is_no_finding() =>
        Assert.That(new RepeatedRow(Row, PublishedRatio: 1, 500, Ratio: null) { IsBase = true }.Agreement, Is.EqualTo(Agreement.Base));

    [Test]
    public void A_row_as_fast_as_the_base_is_not_the_base()
    {
        Assert.That(new RepeatedRow(Row, PublishedRatio: 1, 500, Ratio: null).Agreement, Is.EqualTo(Agreement.NotMeasured));
        Assert.That(A_ratio_is_judged_by_our_interval(1, [1.5, 1.6, 1.7, 1.6, 1.6]), Is.EqualTo(Agreement.Opposite));
    }

    [Test]
    public void What_is_no_number_is_refused() =>
        Assert.That(() => A_ratio_is_judged_by_our_interval(double.NaN, [1.5, 1.6, 1.7, 1.6, 1.6]), Throws.InvalidOperationException);

    [Test]
    public void The_quick_command_is_the_command_with_one_option() => Assert.That(
        PublishedExperiment.All.Select(one => string.Join(' ', one.QuickCommand)),
        Is.EqualTo(PublishedExperiment.All.Select(one => $"{string.Join(' ', one.Command)} --quick")));

    [Test]
    public void The_published_figures_are_those_of_the_paper() => Assert.That(
        PublishedExperiment.All.Single(one => one.Name == "nservicebus-2014").Rows.Select(row => (row.Title, row.PerSecond)),
        Is.EqualTo([("full DTC", 31.2), ("DTC off", 51), ("scope off", 50), ("transactions off", 97.4)]));

    [Test]
    public void Each_has_a_name_of_its_own_and_its_base_among_its_rows()
    {
        using (Assert.EnterMultipleScope())
        {
            Assert.That(PublishedExperiment.All.Select(one => one.Name), Is.Unique);
            foreach (var one in PublishedExperiment.All)
                Assert.That(one.Rows, Does.Contain(one.Base));
        }
    }

    private static readonly PublishedRow Row = new("DTC off", 51, "bare/postgresql/dtc-off/ado");
}
