using Kit.Runner.Results.Accounts;
using Kit.Runner.Results.Faults;

namespace Kit.Tests.Results.Faults;

/// <summary>What was handled before a server crashed, and handled again.</summary>
public sealed class AfterACrash
{
    private static readonly DateTimeOffset Crash = new(2026, 1, 1, 0, 0, 0, TimeSpan.Zero);
    private static readonly Guid One = Guid.NewGuid();
    private static readonly Guid Other = Guid.NewGuid();

    [Test]
    public void What_is_begun_again_has_come_back() =>
        Assert.That(
            HandledAgain.Of([Returned(One, -5), Returned(Other, -4), Started(One, 20), Returned(One, 21)], Crash), Is.EqualTo(new HandledAgain(2, 1)));

    [Test]
    public void What_was_not_finished_before_is_only_handled_later() =>
        Assert.That(HandledAgain.Of([Started(One, -5), Started(One, 20), Returned(One, 21)], Crash), Is.EqualTo(new HandledAgain(0, 0)));

    [Test]
    public void What_is_begun_in_the_moment_of_the_crash_comes_after_it() =>
        Assert.That(HandledAgain.Of([Returned(One, -5), Started(One, 0), Returned(Other, 0)], Crash), Is.EqualTo(new HandledAgain(1, 1)));

    [TestCase(200, 152, "152 of the 200 messages whose handler had returned were handled again (76 %)")]
    [TestCase(0, 0, "0 of the 0 messages whose handler had returned were handled again")]
    public void It_is_said_with_its_share(int returned, int again, string text) =>
        Assert.That(new HandledAgain(returned, again).ToString(), Is.EqualTo(text));

    private static AttemptLine Started(Guid message, int milliseconds) => Line(message, milliseconds, AttemptPoint.Started);

    private static AttemptLine Returned(Guid message, int milliseconds) => Line(message, milliseconds, AttemptPoint.Returned);

    private static AttemptLine Line(Guid message, int milliseconds, AttemptPoint point) =>
        new(message, Guid.NewGuid(), point, []) { At = Crash.AddMilliseconds(milliseconds) };
}
