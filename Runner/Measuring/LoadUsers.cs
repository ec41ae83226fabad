using System.Collections.Concurrent;
using System.Diagnostics;
using System.Threading.Channels;

namespace Kit.Runner.Measuring;

/// <summary>
/// A closed load: each user sends a message, waits for its effect or gives up, pauses, and sends the next. So a slow endpoint slows its users
/// down, and has no more messages to handle than there are users, unless some give up. Whoever waits for a connection at the end still sends.
/// </summary>
/// <param name="producers">One for each send that can be under way; users take turns with them.</param>
/// <param name="sends">Receives the confirmed messages.</param>
internal sealed class LoadUsers(
    IReadOnlyList<IProducer> producers, ClosedLoad load, TimeSpan length, IEffectWatch effects, ConfirmedSends sends) : ILoadSender
{
    private readonly Channel<IProducer> free = Channel.CreateUnbounded<IProducer>();
    private readonly ConcurrentQueue<SentMessage> unsent = [];
    private readonly Stopwatch watch = new();
    private DateTimeOffset start;

    public async Task<SentLoad> RunAsync(CancellationToken stop)
    {
        foreach (var producer in producers)
            free.Writer.TryWrite(producer);
        using var moments = new Moments(watch);
        start = DateTimeOffset.UtcNow;
        watch.Start();
        await Together.RunAsync(
            Enumerable.Range(0, load.Users).Select(user => (Func<CancellationToken, Task>)(
                ending => UseAsync(load.Ramp * user / load.Users, moments, ending))),
            stop);
        var isStopped = stop.IsCancellationRequested && watch.Elapsed < length;
        return new SentLoad(sends.All, start, isStopped ? watch.Elapsed : length, isStopped) { Unsent = unsent };
    }

    private async Task UseAsync(TimeSpan first, Moments moments, CancellationToken stop)
    {
        for (var due = first; due < length; due = watch.Elapsed + load.Think)
        {
            await moments.WaitForAsync(due, stop);
            stop.ThrowIfCancellationRequested();
            var message = Guid.CreateVersion7();
            var givesUp = due + load.Timeout;
            if (await FreeAsync(givesUp, stop) is not { } producer)
            {
                unsent.Enqueue(new SentMessage(message, start + due, start + watch.Elapsed));
                continue;
            }

            Task effect;
            try
            {
                var begun = watch.Elapsed;
                // Watched before it is sent: its effect can be there before its confirmation.
                effect = effects.WaitAsync(message, Until(givesUp < length ? givesUp : length), stop);
                await sends.SendAsync(producer, [new SentMessage(message, start + due, start + begun)]);
            }
            finally
            {
                free.Writer.TryWrite(producer);
            }

            await effect;
        }
    }

    /// <returns>A connection; <see langword="null"/>: none was free until the user gave up, or the load was stopped.</returns>
    private async Task<IProducer?> FreeAsync(TimeSpan givesUp, CancellationToken stop)
    {
        if (free.Reader.TryRead(out var producer))
            return producer;

        using var over = CancellationTokenSource.CreateLinkedTokenSource(stop);
        over.CancelAfter(Until(givesUp));
        try
        {
            return await free.Reader.ReadAsync(over.Token);
        }
        catch (OperationCanceledException)
        {
            return null;
        }
    }

    private TimeSpan Until(TimeSpan end) => end - watch.Elapsed is var left && left > TimeSpan.Zero ? left : TimeSpan.Zero;
}
