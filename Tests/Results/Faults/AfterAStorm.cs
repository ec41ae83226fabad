using Kit.Runner.Results.Accounts;
using Kit.Runner.Results.Faults;

namespace Kit.Tests.Results.Faults;

/// <summary>What a storm did to the endpoint: when it worked again, by the journal of its handlers, and how many messages were touched.</summary>
public sealed class AfterAStorm
{
    private static readonly DateTimeOffset Kill = new(2026, 1, 1, 0, 0, 0, TimeSpan.Zero);
    private static readonly Guid Before = Guid.NewGuid();
    private static readonly Guid One = Guid.NewGuid();
    private static readonly Guid Other = Guid.NewGuid();

    [Test]
    public void It_is_when_the_first_message_that_was_sent_after_it_had_been_handled() =>
        Assert.That(StormRecovery.Of([(Kill, Sent(One, Other))], [Line(Before, 5), Line(One, 350), Line(Other, 300)]), Is.EqualTo([300]));

    [Test]
    public void A_message_that_was_pushed_before_is_none() =>
        Assert.That(StormRecovery.Of([(Kill, Sent(One))], [Line(Before, 5)]), Is.Empty);

    [Test]
    public void An_attempt_that_did_not_end_is_none() =>
        Assert.That(
            StormRecovery.Of([(Kill, Sent(One, Other))], [Line(One, 10, AttemptPoint.Started), Line(Other, 800)]), Is.EqualTo([800]));

    [Test]
    public void Each_fault_has_its_own_in_ascending_order() =>
        Assert.That(
            StormRecovery.Of([(Kill, Sent(One)), (Kill.AddSeconds(1), Sent(Other))], [Line(One, 900), Line(Other, 1_020)]), Is.EqualTo([20, 900]));

    [TestCase(20, 20, null)]
    [TestCase(21, 20, "21 messages were not handled exactly once; 5 kills and 5 cuts of all connections may affect 20")]
    [TestCase(2_000, null, null)]
    public void More_messages_than_are_promised_are_a_violation(int touched, int? most, string? because) =>
        Assert.That(
            new StormFacts(Seed: 1, Kills: 5, Cuts: 5, InFlight: 20) { Touched = touched, MostTouched = most }.TooMany?.Because, Is.EqualTo(because));

    private static HashSet<Guid> Sent(params Guid[] ids) => [.. ids];

    private static AttemptLine Line(Guid message, int at, AttemptPoint point = AttemptPoint.Returned) =>
        new(message, Guid.NewGuid(), point, []) { At = Kill.AddMilliseconds(at) };
}
