using System.Diagnostics;
using Kit.Endpoints.Bare;
using Kit.Endpoints.Cells;
using Kit.Handlers;

namespace Kit.Runner.Loading;

/// <summary>A message of a load.</summary>
/// <param name="Message">The message.</param>
/// <param name="Due">When it was to be sent.</param>
/// <param name="Begun">When its send began.</param>
internal sealed record SentMessage(BuildWidget Message, DateTimeOffset Due, DateTimeOffset Begun);

/// <summary>
/// Sends on schedule. Each sender sends one message at a time and waits until the transport has confirmed it. When all are behind the schedule, a sender
/// takes several messages that are due.
/// </summary>
/// <param name="queues">The queue, opened once for each sender.</param>
/// <param name="schedule">When to send.</param>
internal sealed class LoadSender(IReadOnlyList<IMessageQueue> queues, Schedule schedule)
{
    private const int MostAtOnce = 100;

    private readonly Lock taking = new();
    private readonly List<SentMessage> sent = [];
    private readonly Stopwatch watch = new();
    private DateTimeOffset start;
    private int next;

    /// <summary>When the first message was to be sent.</summary>
    public DateTimeOffset Start => start;

    /// <summary>How many messages are confirmed.</summary>
    public int Sent
    {
        get
        {
            lock (taking)
                return sent.Count;
        }
    }

    /// <summary>Sends all messages, or those until it is stopped.</summary>
    /// <param name="stop">Ends the sending. What is under way is still sent.</param>
    /// <returns>The confirmed messages.</returns>
    public async Task<IReadOnlyList<SentMessage>> RunAsync(CancellationToken stop)
    {
        start = DateTimeOffset.UtcNow;
        watch.Start();
        await Task.WhenAll(queues.Select(queue => Task.Run(() => SendAsync(queue, stop), CancellationToken.None)));
        return sent;
    }

    private async Task SendAsync(IMessageQueue queue, CancellationToken stop)
    {
        while (TakeNext() is { } index)
        {
            try
            {
                var wait = schedule.MomentOf(index) - watch.Elapsed;
                if (wait > TimeSpan.Zero)
                    await Task.Delay(wait, stop);
            }
            catch (OperationCanceledException)
            {
                return;
            }

            if (stop.IsCancellationRequested)
                return;
            var begun = watch.Elapsed;
            var due = TakeDue(index, begun);
            var messages = due.ConvertAll(at => new SentMessage(new BuildWidget(Guid.CreateVersion7()), start + schedule.MomentOf(at), start + begun));
            await queue.PreloadAsync(messages.Select(one => one.Message), CancellationToken.None);
            lock (taking)
                sent.AddRange(messages);
        }
    }

    private int? TakeNext()
    {
        lock (taking)
            return next < schedule.Messages ? next++ : null;
    }

    /// <summary>A message, and those after it that are due as well and that no other sender has taken.</summary>
    private List<int> TakeDue(int index, TimeSpan now)
    {
        var due = new List<int> { index };
        lock (taking)
        {
            while (due.Count < MostAtOnce && next < schedule.Messages && schedule.MomentOf(next) <= now)
                due.Add(next++);
        }

        return due;
    }
}
