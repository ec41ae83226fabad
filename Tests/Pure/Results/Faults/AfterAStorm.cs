using Kit.Runner.Results.Accounts;
using Kit.Runner.Results.Faults;

namespace Kit.Tests.Results.Faults;

/// <summary>What a storm did to the endpoint: how long it was away, by the journal of its handlers, and how many messages were touched.</summary>
public sealed class AfterAStorm
{
    private static readonly DateTimeOffset Start = new(2026, 1, 1, 0, 0, 0, TimeSpan.Zero);

    [Test]
    public void It_was_away_until_the_first_handler_of_the_new_process_returned() =>
        Assert.That(StormRestart.Of([Start], [Line(-5), Line(350), Line(300)]), Is.EqualTo([300]));

    [Test]
    public void An_attempt_that_did_not_end_is_none() =>
        Assert.That(StormRestart.Of([Start], [Line(10, AttemptPoint.Started), Line(800)]), Is.EqualTo([800]));

    [Test]
    public void A_process_that_was_killed_before_a_handler_returned_prolongs_it() =>
        Assert.That(StormRestart.Of([Start, Start.AddSeconds(1)], [Line(1_020)]), Is.EqualTo([20, 1_020]));

    [Test]
    public void A_process_in_which_no_handler_returned_has_none() => Assert.That(StormRestart.Of([Start], [Line(-5)]), Is.Empty);

    [Test]
    public void Each_restart_has_its_own_in_ascending_order() =>
        Assert.That(StormRestart.Of([Start, Start.AddSeconds(1)], [Line(900), Line(950), Line(1_020)]), Is.EqualTo([20, 900]));

    [TestCase(20, 20, null)]
    [TestCase(21, 20, "21 messages were not handled exactly once; 5 kills and 5 cuts of all connections may affect 20")]
    [TestCase(2_000, null, null)]
    public void More_messages_than_are_promised_are_a_violation(int touched, int? most, string? because) =>
        Assert.That(
            new StormFacts(Seed: 1, Kills: 5, Cuts: 5, InFlight: 20) { Touched = touched, MostTouched = most }.TooMany?.Because, Is.EqualTo(because));

    [TestCase(10, null)]
    [TestCase(null, null)]
    [TestCase(11, "10 of 11 faults happened, and a storm shows nothing without them all: 5 kills and 5 cuts of all connections")]
    public void Fewer_faults_than_were_asked_for_show_nothing(int? asked, string? because) =>
        Assert.That(new StormFacts(Seed: 1, Kills: 5, Cuts: 5, InFlight: 20) { Asked = asked }.Shortfall, Is.EqualTo(because));

    private static AttemptLine Line(int at, AttemptPoint point = AttemptPoint.Returned) =>
        new(Guid.NewGuid(), Guid.NewGuid(), point, []) { At = Start.AddMilliseconds(at) };
}
