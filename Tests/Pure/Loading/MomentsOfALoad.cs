using System.Collections.Concurrent;
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

    [Test]
    public async Task Come_in_their_order_not_in_that_of_those_who_wait()
    {
        var watch = Stopwatch.StartNew();
        using var moments = new Moments(watch);
        var come = new ConcurrentQueue<(int Due, long At)>();

        // So far from each other that a pause of this process is short next to it.
        await Task.WhenAll(new[] { 3_000, 1_000, 2_000 }.Select(async due =>
        {
            await moments.WaitForAsync(TimeSpan.FromMilliseconds(due), CancellationToken.None);
            come.Enqueue((due, watch.ElapsedMilliseconds));
        }));

        Assert.That(come.Select(one => one.Due), Is.EqualTo([1_000, 2_000, 3_000]));
        Assert.That(come.First().At, Is.LessThan(3_000), "it did not wait for the moment that was there before");
        Assert.That(watch.ElapsedMilliseconds, Is.AtLeast(3_000));
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
