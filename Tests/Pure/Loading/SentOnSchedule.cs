using Kit.Runner.Measuring;

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

    /// <summary>Of exponential pauses, the share that is longer than their mean is 1/e.</summary>
    [Test]
    public void Drawn_pauses_are_exponential()
    {
        var schedule = new Schedule(100, TimeSpan.FromSeconds(1_000), new Random(1));
        var moments = Enumerable.Range(0, schedule.Messages).Select(schedule.MomentOf).ToList();

        Assert.That(moments, Is.Ordered);
        Assert.That(moments[^1], Is.EqualTo(TimeSpan.FromSeconds(1_000)).Within(TimeSpan.FromSeconds(1)));
        Assert.That(
            moments.Zip(moments.Skip(1)).Count(pair => pair.Second - pair.First > TimeSpan.FromMilliseconds(10)) / (double)schedule.Messages,
            Is.EqualTo(1 / Math.E).Within(0.01));
    }
}
