using System.Diagnostics;
using System.Threading.Channels;
using Kit.Endpoints.Bare;
using Kit.Handlers;

namespace Kit.Runner.Loading;

/// <summary>
/// A closed load: each user sends a message, waits for its effect or gives up, pauses, and sends the next. So a slow endpoint slows its users
/// down, and has no more messages to handle than there are users, unless some give up.
/// </summary>
/// <param name="queues">The queue, opened once for each send that can be under way; users take turns with them.</param>
/// <param name="sends">Receives the confirmed messages.</param>
internal sealed class LoadUsers(
    IReadOnlyList<IMessageQueue> queues, ClosedLoad load, TimeSpan length, Func<BuildWidget> newMessage, IEffectWatch effects, ConfirmedSends sends)
    : ILoadSender
{
    private readonly Channel<IMessageQueue> free = Channel.CreateUnbounded<IMessageQueue>();
    private readonly Stopwatch watch = new();
    private DateTimeOffset start;

    public async Task<SentLoad> RunAsync(CancellationToken stop)
    {
        foreach (var queue in queues)
            free.Writer.TryWrite(queue);
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
            var message = newMessage();
            var queue = await free.Reader.ReadAsync(over);
            Task effect;
            try
            {
                var begun = watch.Elapsed;
                // Watched before it is sent: its effect can be there before its confirmation.
                effect = effects.WaitAsync(message.MessageId, LeftAt(begun, due), over);
                await sends.SendAsync(queue, [new SentMessage(message, start + due, start + begun)]);
            }
            finally
            {
                free.Writer.TryWrite(queue);
            }

            await effect;
        }
    }

    /// <summary>The time that the user still waits: a message that waited for a connection has used some of it.</summary>
    private TimeSpan LeftAt(TimeSpan now, TimeSpan due) => due + load.Timeout - now is var left && left > TimeSpan.Zero ? left : TimeSpan.Zero;
}
