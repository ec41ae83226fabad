using Kit.Runner.Loading;

namespace Kit.Tests.Loading;

[Parallelizable]
public sealed class SentOnSchedule
{
    [TestCase(500, 60, ExpectedResult = 30_000)]
    [TestCase(1, 1, ExpectedResult = 1)]
    [TestCase(1.5, 1, ExpectedResult = 1)]
    public int It_has_as_many_messages_as_the_time_holds(double rate, int seconds) => new Schedule(rate, TimeSpan.FromSeconds(seconds)).Messages;

    [Test]
    public void Messages_are_evenly_spaced()
    {
        var schedule = new Schedule(250, TimeSpan.FromSeconds(1));

        Assert.That(new[] { 0, 1, 249 }.Select(schedule.MomentOf), Is.EqualTo(new[] { 0, 4, 996 }.Select(at => TimeSpan.FromMilliseconds(at))));
    }
}
