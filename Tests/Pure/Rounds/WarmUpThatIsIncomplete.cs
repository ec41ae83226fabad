using Kit.Runner.Measuring;

namespace Kit.Tests.Rounds;

/// <summary>Why a round whose warm-up did not handle each message once is not measured.</summary>
public sealed class WarmUpThatIsIncomplete
{
    [TestCase(20, null, null)]
    [TestCase(18, null, "handlers returned 18 times for 20 messages")]
    [TestCase(21, null, "handlers returned 21 times for 20 messages")]
    [TestCase(2, "no progress for 180 s with 18 messages left", "no progress for 180 s with 18 messages left")]
    public void Says_what_was_left(int handled, string? stalled, string? because) => Assert.That(
        new Drained(DrainReport.Nothing with { Handled = handled }, stalled, Start: null, End: null).WhyIncomplete(20), Is.EqualTo(because));
}
