using System.Diagnostics;

namespace Kit.Runner.Measuring;

/// <summary>
/// Sends on schedule. Each sender sends one message at a time and waits until the transport has confirmed it. When all are behind the schedule, a sender
/// takes several messages that are due.
/// </summary>
/// <param name="producers">One for each sender.</param>
internal sealed class LoadSender(IReadOnlyList<IProducer> producers, Schedule schedule, ConfirmedSends sends) : ILoadSender
{
    /// <summary>Messages of one send, where a send can have several.</summary>
    public const int MostInASend = 100;

    private readonly Lock taking = new();
    private readonly Stopwatch watch = new();
    private DateTimeOffset start;
    private int next;

    /// <summary>Messages that a sender takes at a time when it is behind.</summary>
    public int MostAtOnce { get; init; } = MostInASend;

    public async Task<SentLoad> RunAsync(CancellationToken stop)
    {
        using var moments = new Moments(watch);
        start = DateTimeOffset.UtcNow;
        watch.Start();
        await Together.RunAsync(producers.Select(producer => (Func<CancellationToken, Task>)(ending => SendAsync(producer, moments, ending))), stop);
        var sent = sends.All;
        var isWhole = sent.Count >= schedule.Messages;
        // A stopped load ended with its last message.
        return new SentLoad(sent, start, isWhole ? schedule.Length : sent.Select(one => one.Due - start).DefaultIfEmpty().Max(), !isWhole);
    }

    private async Task SendAsync(IProducer producer, Moments moments, CancellationToken stop)
    {
        while (TakeNext() is { } index)
        {
            await moments.WaitForAsync(schedule.MomentOf(index), stop);
            stop.ThrowIfCancellationRequested();
            var begun = watch.Elapsed;
            await sends.SendAsync(
                producer,
                TakeDue(index, begun).ConvertAll(
                    at => new SentMessage(Guid.CreateVersion7(), start + schedule.MomentOf(at), start + begun)));
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
