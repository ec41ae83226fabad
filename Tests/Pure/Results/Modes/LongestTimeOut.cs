using System.Transactions;
using Kit.Modes;

namespace Kit.Tests.Results.Modes;

/// <summary>Time-outs that an endpoint asks for, and what the process allows: the two limits of .NET are set for one test at a time.</summary>
public sealed class LongestTimeOut
{
    private static readonly TimeSpan Minute = TimeSpan.FromMinutes(1);

    private (TimeSpan Default, TimeSpan Maximum) before;

    [SetUp]
    public void Remember() => before = (TransactionManager.DefaultTimeout, TransactionManager.MaximumTimeout);

    [TearDown]
    public void Restore() => (TransactionManager.MaximumTimeout, TransactionManager.DefaultTimeout) = (before.Maximum, before.Default);

    [TestCase(0)]
    [TestCase(-1)]
    public void Nothing_or_less_is_refused(int seconds) => Assert.That(
        () => TransactionTimeout.Require(TimeSpan.FromSeconds(seconds)),
        Throws.TypeOf<ArgumentOutOfRangeException>().With.Message.Contains($"must be longer than zero; found {TimeSpan.FromSeconds(seconds)}."));

    [TestCase(1)]
    [TestCase(10)]
    public void Up_to_it_a_time_out_is_kept(int minutes) =>
        Assert.That(TransactionTimeout.Require(minutes * Minute), Is.EqualTo(minutes * Minute));

    [TestCase(601, "00:10:01", 11)]
    [TestCase(1_800, "00:30:00", 30)]
    public void Above_it_a_time_out_is_refused_with_the_line_that_raises_it(int seconds, string found, int minutes) => Assert.That(
        () => TransactionTimeout.Require(TimeSpan.FromSeconds(seconds)),
        Throws.TypeOf<ArgumentOutOfRangeException>().With.Message.StartsWith(
            $"The transaction's time-out is {found}, and this process allows at most 00:10:00 (TransactionManager.MaximumTimeout): .NET would " +
            "shorten it silently. Set a shorter one, or raise the limit before the endpoint starts: " +
            $"TransactionManager.MaximumTimeout = TimeSpan.FromMinutes({minutes});"));

    [Test]
    public void Where_the_process_has_none_every_time_out_is_kept()
    {
        TransactionManager.MaximumTimeout = TimeSpan.Zero;

        Assert.That(TransactionTimeout.Require(TimeSpan.FromDays(30)), Is.EqualTo(TimeSpan.FromDays(30)));
    }

    [TestCase(1, 10, ExpectedResult = 1, Description = "What .NET gives.")]
    [TestCase(2, 10, ExpectedResult = 2)]
    [TestCase(0, 10, ExpectedResult = 10, Description = "None: .NET gives the longest.")]
    [TestCase(0, 0, ExpectedResult = 24 * 60, Description = "And none of that: a day.")]
    public double An_endpoint_that_asks_for_none_has_that_of_the_process(int minutes, int longest)
    {
        TransactionManager.MaximumTimeout = longest * Minute;
        TransactionManager.DefaultTimeout = minutes * Minute;

        return TransactionTimeout.Default.TotalMinutes;
    }

    [Test]
    public void A_longest_that_is_set_later_is_the_default_where_the_process_has_none()
    {
        TransactionManager.MaximumTimeout = TimeSpan.Zero;
        TransactionManager.DefaultTimeout = TimeSpan.Zero;
        TransactionManager.MaximumTimeout = 5 * Minute;

        Assert.That(TransactionTimeout.Default, Is.EqualTo(5 * Minute));
    }

    [Test]
    public void A_handler_that_took_longer_is_told_how_long_it_had()
    {
        var late = TransactionTimeout.Exceeded(Minute, 2 * Minute);

        Assert.That(
            late.Message,
            Is.EqualTo("The handler did not finish within 00:01:00, the time-out of its transaction, and its work was rolled back."));
        Assert.That(late.InnerException, Is.Null);
    }

    [Test]
    public void A_handler_that_failed_late_is_told_how_it_ended()
    {
        var failure = new InvalidOperationException("it broke");

        var late = TransactionTimeout.Exceeded(Minute, 2 * Minute, failure);

        Assert.That(late.Message, Does.EndWith("was rolled back. It ended with: it broke"));
        Assert.That(late.InnerException, Is.SameAs(failure));
    }

    [TestCase(10, true)]
    [TestCase(9, false)]
    public void A_handler_that_took_that_long_is_told_that_its_late_work_can_have_stayed(int minutes, bool isTold) => Assert.That(
        TransactionTimeout.Exceeded(Minute, minutes * Minute).Message.EndsWith(
            "rolled back. Anything it wrote after 00:10:00 (TransactionManager.MaximumTimeout) was outside the transaction and may have stayed.",
            StringComparison.Ordinal),
        Is.EqualTo(isTold));

    [Test]
    public void Where_the_process_has_none_no_work_can_have_stayed()
    {
        TransactionManager.MaximumTimeout = TimeSpan.Zero;

        Assert.That(TransactionTimeout.Exceeded(Minute, 1_000 * Minute).Message, Does.Not.Contain("MaximumTimeout"));
    }
}
