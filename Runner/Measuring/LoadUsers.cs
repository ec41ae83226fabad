using System.Diagnostics;
using System.Threading.Channels;

namespace Kit.Runner.Measuring;

/// <summary>
/// A closed load: each user sends a message, waits for its effect or gives up, pauses, and sends the next. So a slow endpoint slows its users
/// down, and has no more messages to handle than there are users, unless some give up.
/// </summary>
/// <param name="producers">One for each send that can be under way; users take turns with them.</param>
/// <param name="sends">Receives the confirmed messages.</param>
internal sealed class LoadUsers(
    IReadOnlyList<IProducer> producers, ClosedLoad load, TimeSpan length, IEffectWatch effects, ConfirmedSends sends) : ILoadSender
{
    private readonly Channel<IProducer> free = Channel.CreateUnbounded<IProducer>();
    private readonly Stopwatch watch = new();
    private DateTimeOffset start;

    public async Task<SentLoad> RunAsync(CancellationToken stop)
    {
        foreach (var producer in producers)
            free.Writer.TryWrite(producer);
        using var moments = new Moments(watch);
        start = DateTimeOffset.UtcNow;
        watch.Start();
        using var over = CancellationTokenSource.CreateLinkedTokenSource(stop);
        over.CancelAfter(length);
        await Together.RunAsync(
            Enumerable.Range(0, load.Users).Select(user => (Func<CancellationToken, Task>)(
                ending => UseAsync(load.Ramp * user / load.Users, moments, ending))),
            over.Token);
        var isStopped = stop.IsCancellationRequested && watch.Elapsed < length;
        return new SentLoad(sends.All, start, isStopped ? watch.Elapsed : length, isStopped);
    }

    private async Task UseAsync(TimeSpan first, Moments moments, CancellationToken over)
    {
        for (var due = first; ; due = watch.Elapsed + load.Think)
        {
            await moments.WaitForAsync(due, over);
            var message = Guid.CreateVersion7();
            var producer = await free.Reader.ReadAsync(over);
            Task effect;
            try
            {
                var begun = watch.Elapsed;
                // Watched before it is sent: its effect can be there before its confirmation.
                effect = effects.WaitAsync(message, LeftAt(begun, due), over);
                await sends.SendAsync(producer, [new SentMessage(message, start + due, start + begun)]);
            }
            finally
            {
                free.Writer.TryWrite(producer);
            }

            await effect;
        }
    }

    /// <summary>The time that the user still waits: a message that waited for a connection has used some of it.</summary>
    private TimeSpan LeftAt(TimeSpan now, TimeSpan due) => due + load.Timeout - now is var left && left > TimeSpan.Zero ? left : TimeSpan.Zero;
}
