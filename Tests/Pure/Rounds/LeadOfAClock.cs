using Kit.Runner.Measuring;

namespace Kit.Tests.Rounds;

/// <summary>The lead of a server's clock over this machine's, from questions for it.</summary>
public sealed class LeadOfAClock
{
    private static readonly DateTime Noon = new(2026, 11, 30, 12, 0, 0, DateTimeKind.Utc);

    [Test]
    public void Is_that_of_the_quickest_answer()
    {
        var lead = ClockLead.Of([Asked(ahead: 5_000, there: 9, back: 31), Asked(ahead: 5_000, there: 1, back: 3), Asked(ahead: 5_000, there: 20, back: 20)]);

        Assert.That(lead, Is.EqualTo(new ClockLead(Milliseconds(4_999), Milliseconds(2))));
    }

    /// <summary>The ways there and back differ as much as they can, and the clocks by an hour.</summary>
    [TestCase(3_600_000)]
    [TestCase(-3_600_000)]
    [TestCase(0)]
    public void Is_never_further_from_the_truth_than_its_error(double ahead)
    {
        var random = new Random(7);
        foreach (var _ in Enumerable.Range(0, 1_000))
        {
            var lead = ClockLead.Of(Enumerable.Range(0, 5).Select(_ => Asked(ahead, random.NextDouble() * 50, random.NextDouble() * 5)));

            Assert.That((lead.Ahead - Milliseconds(ahead)).Duration(), Is.LessThanOrEqualTo(lead.Error + TimeSpan.FromTicks(1)));
        }
    }

    [Test]
    public void Has_the_error_of_what_the_clock_may_have_moved_in_the_meantime()
    {
        var (before, after) = (new ClockLead(Milliseconds(10), Milliseconds(1)), new ClockLead(Milliseconds(14), Milliseconds(2)));

        Assert.That(ClockLead.Over(before, after), Is.EqualTo(new ClockLead(Milliseconds(10), Milliseconds(6))));
        Assert.That(ClockLead.Over(after, before), Is.EqualTo(new ClockLead(Milliseconds(14), Milliseconds(5))));
        Assert.That(ClockLead.Over(before, before), Is.EqualTo(before));
        Assert.That(ClockLead.Over(null, null), Is.Null, "one clock");
    }

    [TestCase(14, 1, 2)]
    [TestCase(6, 1, -2)]
    [TestCase(14, 4, 0)]
    public void Has_moved_by_the_gap_between_what_both_can_be(double later, double error, double moved) => Assert.That(
        ClockLead.Moved(new ClockLead(Milliseconds(10), Milliseconds(1)), new ClockLead(Milliseconds(later), Milliseconds(error))),
        Is.EqualTo(Milliseconds(moved)));

    private static ClockExchange Asked(double ahead, double there, double back) =>
        new(Noon, Noon + Milliseconds(there + ahead), Milliseconds(there + back));

    private static TimeSpan Milliseconds(double milliseconds) => TimeSpan.FromMilliseconds(milliseconds);
}
