using System.Diagnostics;
using Kit.Runner.Loading;

namespace Kit.Tests.Loading;

[Parallelizable]
public sealed class MomentsOfALoad
{
    /// <summary>A timer can end early.</summary>
    [Test]
    public async Task Are_never_too_early()
    {
        var watch = Stopwatch.StartNew();
        var early = new List<TimeSpan>();
        for (var moment = 1; moment <= 300; moment++)
        {
            var due = TimeSpan.FromMilliseconds(moment * 1.37);
            await Moment.WaitForAsync(due, watch, CancellationToken.None);
            if (watch.Elapsed < due)
                early.Add(due - watch.Elapsed);
        }

        Assert.That(early, Is.Empty);
    }

    [Test]
    public async Task In_the_past_are_not_waited_for() =>
        await Moment.WaitForAsync(TimeSpan.FromSeconds(-1), Stopwatch.StartNew(), new CancellationToken(canceled: true));

    [Test]
    public void Can_be_stopped() => Assert.That(
        () => Moment.WaitForAsync(TimeSpan.FromHours(1), Stopwatch.StartNew(), new CancellationToken(canceled: true)),
        Throws.InstanceOf<OperationCanceledException>());
}
