using System.Diagnostics;
using Kit.Runner.Results;

namespace Kit.Runner.Measuring;

/// <summary>The progress of a load.</summary>
/// <param name="Elapsed">Since the schedule's start.</param>
/// <param name="Failed">Attempts whose handler has thrown.</param>
internal sealed record LoadProgress(TimeSpan Elapsed, int Sent, int Handled, int Failed)
{
    /// <summary>The median of messages that came since the last progress, in ms; <see langword="null"/>: unknown.</summary>
    public double? Latency { get; init; }
}

/// <summary>Drives a target with one load: sends its messages while the target handles them.</summary>
/// <param name="effects">Started.</param>
/// <param name="between">Time between reports of the progress: 1 s or longer.</param>
/// <param name="tell">Receives the progress.</param>
internal sealed class LoadDriver(ITarget target, Effects effects, TimeSpan between, Action<LoadProgress> tell)
{
    /// <summary>Time for which a target may go on with what was sent when the load was stopped.</summary>
    public static readonly TimeSpan ToHandle = TimeSpan.FromSeconds(30);

    private static readonly TimeSpan BetweenLooks = TimeSpan.FromSeconds(1);

    /// <summary>Messages that a producer gets at a time when it is behind the schedule.</summary>
    public int MostAtOnce { get; init; } = LoadSender.MostInASend;

    /// <summary>Time limit of a send.</summary>
    public TimeSpan LongestSend
    {
        init => sends = new ConfirmedSends(value);
    }

    private readonly ConfirmedSends sends = new(ConfirmedSends.Longest);
    private Stopwatch? sinceStart;

    /// <summary>Messages that the transport has confirmed so far.</summary>
    public int Sent => sends.Count;

    /// <summary>Time since the first message was to be sent.</summary>
    public TimeSpan Elapsed => sinceStart?.Elapsed ?? TimeSpan.Zero;

    /// <summary>Sends the messages of a load, or those until it is stopped.</summary>
    /// <param name="producers">One for each send that can be under way.</param>
    /// <param name="meanwhile">Runs while messages are sent; each gets a token that ends it. If one fails, the load does.</param>
    /// <param name="stop">Ends the sending.</param>
    /// <exception cref="Exception">The target broke, a send was not confirmed in time, or what ran meanwhile failed.</exception>
    public async Task<SentLoad> SendAsync(
        LoadShape shape, TimeSpan length, IReadOnlyList<IProducer> producers, IReadOnlyList<Func<CancellationToken, Task>> meanwhile, CancellationToken stop)
    {
        using var ending = CancellationTokenSource.CreateLinkedTokenSource(stop);
        using var over = new CancellationTokenSource();
        Task<SentLoad>? sending = null;
        IReadOnlyList<Task> running = [];
        try
        {
            var sender = SenderOf(shape, length, producers);
            var latency = new LiveLatency(sends, effects);
            var (before, failedBefore) = (target.Handled, target.Failed);
            var watch = sinceStart = Stopwatch.StartNew();
            LoadProgress? latest = null;
            var told = 0;
            // Both counts of one moment: the number of handled messages is told four times a second.
            target.Progressed = () => latest = new LoadProgress(watch.Elapsed, sends.Count, target.Handled - before, target.Failed - failedBefore);
            sending = sender.RunAsync(ending.Token);
            running = [.. meanwhile.Select(run => run(over.Token))];
            while (!sending.IsCompleted)
            {
                await Task.WhenAny(sending, Task.Delay(BetweenLooks, CancellationToken.None));
                // The load has failed: messages of hours would only wait.
                if (target.IsBroken || effects.Loss is not null || running.Any(task => task.IsFaulted))
                    await ending.CancelAsync();
                if (latest is not { } progress || sending.IsCompleted || (int)(progress.Elapsed / between) == told)
                    continue;
                told = (int)(progress.Elapsed / between);
                tell(progress with { Latency = await latency.ReadAsync() });
            }

            var sent = await sending;
            target.ThrowIfBroken();
            await over.CancelAsync();
            await Task.WhenAll(running);
            return sent;
        }
        finally
        {
            target.Progressed = null;
            await over.CancelAsync();
            await ending.CancelAsync();
            // Whatever has failed, nobody uses the producers any more.
            await Task.WhenAll([.. running, sending ?? Task.CompletedTask]).ContinueWith(_ => { }, TaskScheduler.Default);
        }
    }

    /// <summary>Waits until that many messages are handled and the queue is empty.</summary>
    /// <param name="noLonger">Ends the waiting: the queue is counted for the last time.</param>
    /// <param name="end">Ends that count, too: a server need not answer.</param>
    /// <returns>The reason why it gave up; <see langword="null"/> if it did not.</returns>
    public async Task<string?> UntilHandledAsync(int messages, CancellationToken noLonger, CancellationToken end)
    {
        try
        {
            return await new Drain(target, Drain.DefaultStallLimit, new Progress<int>()).UntilEmptyAsync(messages, noLonger, end);
        }
        catch (OperationCanceledException) when (noLonger.IsCancellationRequested && !end.IsCancellationRequested)
        {
            return await target.CountAsync(end) is > 0 and var left
                ? $"it was stopped, and {Figures.Count(left, "message")} still had to be handled after {ToHandle.TotalSeconds} s"
                : null;
        }
    }

    private ILoadSender SenderOf(LoadShape shape, TimeSpan length, IReadOnlyList<IProducer> producers) => shape switch
    {
        OpenLoad open => new LoadSender(producers, new Schedule(open.Rate, length, open.Pauses), sends) { MostAtOnce = MostAtOnce },
        ClosedLoad closed => new LoadUsers(producers, closed, length, effects, sends),
        _ => throw new UnreachableException($"Nobody sends a {shape.GetType().Name}."),
    };
}
