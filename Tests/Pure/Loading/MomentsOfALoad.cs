using System.Diagnostics;
using Kit.Runner.Measuring;

namespace Kit.Tests.Loading;

[Parallelizable]
public sealed class MomentsOfALoad
{
    /// <summary>A timer can end early.</summary>
    [Test]
    public async Task Are_never_too_early()
    {
        var watch = Stopwatch.StartNew();
        using var moments = new Moments(watch);
        var early = new List<TimeSpan>();
        for (var moment = 1; moment <= 300; moment++)
        {
            var due = TimeSpan.FromMilliseconds(moment * 1.37);
            await moments.WaitForAsync(due, CancellationToken.None);
            if (watch.Elapsed < due)
                early.Add(due - watch.Elapsed);
        }

        Assert.That(early, Is.Empty);
    }

    [Test]
    public async Task In_the_past_are_not_waited_for()
    {
        using var moments = new Moments(Stopwatch.StartNew());

        await moments.WaitForAsync(TimeSpan.FromSeconds(-1), new CancellationToken(canceled: true));
    }

    [Test]
    public async Task Can_be_stopped()
    {
        using var moments = new Moments(Stopwatch.StartNew());
        using var stopping = new CancellationTokenSource();
        var stopped = moments.WaitForAsync(TimeSpan.FromHours(1), stopping.Token);
        await stopping.CancelAsync();

        await Assert.ThatAsync(() => stopped, Throws.InstanceOf<OperationCanceledException>());
        await Assert.ThatAsync(
            () => moments.WaitForAsync(TimeSpan.FromHours(1), new CancellationToken(canceled: true)), Throws.InstanceOf<OperationCanceledException>());
    }

    /// <summary>However long this process is paused, one that comes later does not hold up one that comes sooner.</summary>
    [Test]
    public async Task Come_in_their_order_not_in_that_of_those_who_wait()
    {
        var watch = Stopwatch.StartNew();
        using var moments = new Moments(watch);
        var last = moments.WaitForAsync(TimeSpan.FromHours(2), CancellationToken.None);
        var first = moments.WaitForAsync(TimeSpan.FromSeconds(1), CancellationToken.None);
        var second = moments.WaitForAsync(TimeSpan.FromSeconds(2), CancellationToken.None);

        await first.WaitAsync(TimeSpan.FromMinutes(5));
        Assert.That(watch.ElapsedMilliseconds, Is.AtLeast(1_000));
        await second.WaitAsync(TimeSpan.FromMinutes(5));
        Assert.That(watch.ElapsedMilliseconds, Is.AtLeast(2_000));
        Assert.That(last.IsCompleted, Is.False);
    }

    [Test]
    public async Task Do_not_come_after_it_is_disposed()
    {
        var moments = new Moments(Stopwatch.StartNew());
        var waiting = moments.WaitForAsync(TimeSpan.FromHours(1), CancellationToken.None);

        moments.Dispose();

        await Assert.ThatAsync(() => waiting, Throws.InstanceOf<OperationCanceledException>());
        await Assert.ThatAsync(
            () => moments.WaitForAsync(TimeSpan.FromHours(1), CancellationToken.None), Throws.InstanceOf<ObjectDisposedException>());
    }
}
