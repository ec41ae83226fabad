using System.Diagnostics;
using Kit.Runner.Measuring;
using Kit.Runner.Results;

namespace Kit.Tests.Loading;

/// <summary>What becomes of a load when the transport takes a message late, or never.</summary>
[Parallelizable]
public sealed class SenderThatBlocks
{
    private static readonly TimeSpan Patient = TimeSpan.FromSeconds(30);
    private static readonly TimeSpan Longest = TimeSpan.FromMilliseconds(300);

    [Test]
    public async Task What_was_due_meanwhile_is_sent_at_once_and_its_lateness_is_counted()
    {
        var queue = new BlockedQueue(blockedFor: TimeSpan.FromMilliseconds(500));

        // So long that a pause of this process before the first message leaves some for later.
        var sent = await new LoadSender([queue], new Schedule(100, TimeSpan.FromSeconds(5)), new ConfirmedSends(ConfirmedSends.Longest))
            .RunAsync(default);

        var lags = sent.Messages.Select(one => (one.Begun - one.Due).TotalMilliseconds).ToList();
        using (Assert.EnterMultipleScope())
        {
            Assert.That(sent, Has.Property(nameof(SentLoad.IsStopped)).EqualTo(false).And.Property(nameof(SentLoad.Length)).EqualTo(TimeSpan.FromSeconds(5)));
            Assert.That(sent.Messages.Select(one => one.Message), Is.Unique.And.EquivalentTo(queue.Taken));
            Assert.That(sent.Messages, Has.Count.EqualTo(500));
            Assert.That(queue.Sizes[1], Is.GreaterThanOrEqualTo(40), "those of half a second, together");
            Assert.That(lags.Max(), Is.InRange(450, 10_000), "the second message waited for the first");
        }
    }

    [Test]
    public async Task One_that_blocks_for_ever_ends_the_load_with_the_reason()
    {
        var queue = new BlockedQueue(blockedFor: Timeout.InfiniteTimeSpan);
        var watch = Stopwatch.StartNew();

        var failure = await Assert.ThrowsAsync<KitException>(
            () => new LoadSender([queue, queue], new Schedule(10, TimeSpan.FromHours(1)), new ConfirmedSends(Longest)).RunAsync(default));

        using (Assert.EnterMultipleScope())
        {
            Assert.That(failure!.Message, Is.EqualTo("The transport did not confirm a send within 0.300 s."));
            Assert.That(watch.Elapsed, Is.LessThan(TimeSpan.FromSeconds(20)), "the other sender has no hour to wait");
        }
    }

    [Test]
    public async Task Stopped_it_still_sends_what_is_under_way()
    {
        using var stop = new CancellationTokenSource();
        var queue = new BlockedQueue(blockedFor: TimeSpan.FromMilliseconds(500)) { Entered = stop.Cancel };

        // A minute from message to message: a busy machine sends all that are due together.
        var sent = await new LoadSender([queue], new Schedule(1.0 / 60, TimeSpan.FromHours(1)), new ConfirmedSends(ConfirmedSends.Longest))
            .RunAsync(stop.Token);

        Assert.That((sent.Messages.Count, sent.IsStopped), Is.EqualTo((1, true)));
    }

    [Test]
    public async Task A_user_who_finds_every_connection_taken_is_late()
    {
        var queue = new BlockedQueue(blockedFor: TimeSpan.FromMilliseconds(300));
        var load = new ClosedLoad(Users: 2, Think: TimeSpan.FromHours(1), Ramp: TimeSpan.Zero, Timeout: TimeSpan.FromSeconds(30));

        var users = new LoadUsers(
            [queue], load, TimeSpan.FromSeconds(5), new ThereAtOnce(), new ConfirmedSends(ConfirmedSends.Longest));

        var sent = await users.RunAsync(default);

        Assert.That(sent.Messages.Select(one => (one.Begun - one.Due).TotalMilliseconds).Max(), Is.InRange(250, 10_000));
    }

    [Test]
    public async Task A_user_who_waits_for_a_connection_when_the_load_ends_still_sends()
    {
        var length = TimeSpan.FromMilliseconds(500);
        var sent = await TwoUsersAsync(length, blockedFor: 3 * length, Patient, default);

        using (Assert.EnterMultipleScope())
        {
            Assert.That(sent.Messages, Has.Count.EqualTo(2));
            Assert.That(sent.Messages.Max(one => one.Begun) - sent.Start, Is.GreaterThan(length));
            Assert.That(sent, Has.Property(nameof(SentLoad.Length)).EqualTo(length).And.Property(nameof(SentLoad.Unsent)).Empty);
        }
    }

    [Test]
    public async Task One_who_gives_up_without_a_connection_is_told()
    {
        var timeout = TimeSpan.FromMilliseconds(200);

        var sent = await TwoUsersAsync(TimeSpan.FromMilliseconds(500), blockedFor: TimeSpan.FromSeconds(2), timeout, default);

        var unsent = sent.Unsent.Single();
        Assert.That((sent.Messages.Count, unsent.Begun - unsent.Due > timeout / 2), Is.EqualTo((1, true)));
    }

    [Test]
    public async Task Nor_is_one_forgotten_who_waits_when_the_load_is_stopped()
    {
        using var stop = new CancellationTokenSource(TimeSpan.FromMilliseconds(200));

        var sent = await TwoUsersAsync(TimeSpan.FromHours(1), blockedFor: TimeSpan.FromSeconds(1), Patient, stop.Token);

        Assert.That((sent.Messages.Count, sent.Unsent.Count, sent.IsStopped), Is.EqualTo((1, 1, true)));
    }

    /// <summary>Two users who share a connection, and send one message each.</summary>
    private static Task<SentLoad> TwoUsersAsync(TimeSpan length, TimeSpan blockedFor, TimeSpan timeout, CancellationToken stop)
    {
        var load = new ClosedLoad(Users: 2, Think: TimeSpan.FromHours(1), Ramp: TimeSpan.Zero, timeout);
        return new LoadUsers([new BlockedQueue(blockedFor)], load, length, new ThereAtOnce(), new ConfirmedSends(ConfirmedSends.Longest)).RunAsync(stop);
    }

    /// <summary>Takes the first message late, and all others at once.</summary>
    private sealed class BlockedQueue(TimeSpan blockedFor) : IProducer
    {
        private readonly List<IReadOnlyCollection<Guid>> sends = [];

        /// <summary>Called when the first message comes.</summary>
        public Action? Entered { get; init; }

        public IReadOnlyList<int> Sizes => [.. sends.Select(send => send.Count)];

        public IReadOnlyList<Guid> Taken => [.. sends.SelectMany(send => send)];

        public async Task SendAsync(IReadOnlyCollection<Guid> messages, CancellationToken cancellationToken)
        {
            bool isFirst;
            lock (sends)
            {
                isFirst = sends.Count == 0;
                sends.Add(messages);
            }

            if (!isFirst)
                return;

            Entered?.Invoke();
            await Task.Delay(blockedFor, cancellationToken);
        }
    }

    private sealed class ThereAtOnce : IEffectWatch
    {
        public Task WaitAsync(Guid message, TimeSpan patience, CancellationToken cancellationToken) => Task.CompletedTask;
    }
}
