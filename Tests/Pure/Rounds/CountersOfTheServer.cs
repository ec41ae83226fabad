using Kit.Runner.Measuring;
using Kit.Runner.Results;

namespace Kit.Tests.Rounds;

/// <summary>Counters of the server that are read before and after a drain.</summary>
public sealed class CountersOfTheServer
{
    private static readonly Reading Hidden = Reading.Missing("may not be read");

    [Test]
    public void The_cost_is_the_difference() => Assert.That(Of(Reading.Of(7)).FlushesSince(Of(Reading.Of(5))), Is.EqualTo(Reading.Of(2)));

    [Test]
    public void One_that_was_not_read_before_has_no_difference() => Assert.That(Of(Reading.Of(7)).FlushesSince(Of(Hidden)), Is.EqualTo(Hidden));

    [Test]
    public void One_that_was_not_read_after_has_no_difference() => Assert.That(Of(Hidden).FlushesSince(Of(Reading.Of(5))), Is.EqualTo(Hidden));

    [Test]
    public void While_a_session_is_open_there_is_no_difference() =>
        Assert.That((Of(Reading.Of(7)) with { IsSettled = false }).FlushesSince(Of(Reading.Of(5))).Because, Does.Contain("sessions were still open"));

    private static ServerCounters Of(Reading flushes) => new(Commits: 0, Buffers: 0, flushes, WalPosition: default, IsSettled: true);
}
