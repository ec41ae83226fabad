using System.Numerics;
using Microsoft.Extensions.Logging;

namespace Kit.Endpoints.Bare.Outbox;

/// <summary>
/// Dispatches what waits in the outbox: what could not be dispatched when its message was handled, and what a crash left there. It searches
/// when the endpoint starts and then every few seconds. Several processes share the work, because each claims the records of one message.
/// </summary>
/// <remarks>
/// Each record is sent by itself, those of one handler in its order, and one that is refused keeps back only those for the same queue. The
/// send commits first and its record is deleted afterwards: a crash between the two sends the message again, with the same id.
/// </remarks>
internal sealed partial class OutboxDispatcher : IAsyncDisposable
{
    private const int PageSize = 1_000;

    private readonly OutboxStore outbox;
    private readonly Func<CancellationToken, Task<IOutboxSender>> connect;
    private readonly OutboxSchedule schedule;
    private readonly ILogger log;
    private readonly CancellationTokenSource stopping = new();
    private readonly Task running;

    /// <summary>The queues that do not take what is sent to them, and in how many searches one after the other.</summary>
    private readonly Dictionary<string, int> refusals = new(StringComparer.Ordinal);

    private OutboxDispatcher(OutboxStore outbox, Func<CancellationToken, Task<IOutboxSender>> connect, OutboxSchedule schedule, ILogger log)
    {
        this.outbox = outbox;
        this.connect = connect;
        this.schedule = schedule;
        this.log = log;
        running = OwnContext.Run(RunAsync);
    }

    /// <summary>What waited after the last search; <see langword="null"/> before the first.</summary>
    public OutboxBacklog? Backlog { get; private set; }

    /// <param name="outbox">What is to be dispatched.</param>
    /// <param name="connect">Connects to the queues. Called when something waits.</param>
    /// <param name="schedule">How often.</param>
    /// <param name="log">Told of what cannot be dispatched.</param>
    public static OutboxDispatcher Start(
        OutboxStore outbox, Func<CancellationToken, Task<IOutboxSender>> connect, OutboxSchedule schedule, ILogger log) =>
        new(outbox, connect, schedule, log);

    /// <summary>Takes over what a message sent, which is handled and is done: a dispatch that fails does not fail its message.</summary>
    public void TakeOver(Guid messageId, Exception failure) => LogTakenOver(messageId, Failure.ReasonOf(failure).Message);

    /// <summary>Begins no other dispatch, and waits for the one under way.</summary>
    public async ValueTask DisposeAsync()
    {
        if (!stopping.IsCancellationRequested)
            await stopping.CancelAsync();

        await running;
        stopping.Dispose();
    }

    private async Task RunAsync()
    {
        var failures = 0;
        while (!stopping.IsCancellationRequested)
        {
            try
            {
                await SearchAsync(stopping.Token);
                Backlog = await outbox.ReadBacklogAsync(stopping.Token);
                failures = 0;
            }
            catch (Exception failure) when (!stopping.IsCancellationRequested)
            {
                if (BitOperations.IsPow2(++failures))
                    LogDisturbed(failure.Message, schedule.Interval.TotalSeconds);
            }
            catch (Exception)
            {
                // What is not dispatched waits for the next start.
                return;
            }

            await Task.Delay(schedule.Interval, stopping.Token).ConfigureAwait(ConfigureAwaitOptions.SuppressThrowing);
        }
    }

    private async Task SearchAsync(CancellationToken cancellationToken)
    {
        await outbox.ForgetLateAsync(cancellationToken);
        var refusing = new HashSet<string>(StringComparer.Ordinal);
        IReadOnlyList<WaitingRecord> page = [];
        do
        {
            var after = page is [.., var last] ? last.CausationId : Guid.Empty;
            page = await outbox.ReadWaitingAsync(after, refusing, PageSize, cancellationToken);
            if (page.Count == 0)
                return;

            await Task.Delay(schedule.Grace, cancellationToken);
            await using var sender = await connect(cancellationToken);
            // Evaluated as it goes on: once a queue has refused, this search tries nothing else that is for it.
            var accepted = page.Where(record => !refusing.Contains(record.Queue));
            foreach (var messageId in accepted.Select(record => record.CausationId).Distinct())
                await DispatchAsync(messageId, sender, refusing, cancellationToken);
        }
        while (page.Count == PageSize);
    }

    private async Task DispatchAsync(Guid messageId, IOutboxSender sender, HashSet<string> refusing, CancellationToken cancellationToken)
    {
        await using var claim = await outbox.ClaimAsync(messageId, cancellationToken);
        if (claim is null)
            return;

        var dispatched = new List<OutboxRecord>();
        try
        {
            foreach (var record in claim.Records.Where(record => !refusing.Contains(record.Message.Queue)))
            {
                if (await sender.SendAsync(record.Message) is { } reason)
                {
                    refusing.Add(record.Message.Queue);
                    NoteRefusal(record.Message.Queue, reason);
                }
                else
                {
                    dispatched.Add(record);
                    NoteTaken(record.Message.Queue);
                }
            }
        }
        finally
        {
            await claim.ForgetAsync(dispatched);
        }
    }

    /// <summary>Told the 1st time, the 2nd, the 4th, the 8th and so on: a queue that stays away does not fill the log.</summary>
    private void NoteRefusal(string queue, string reason)
    {
        var times = refusals[queue] = refusals.GetValueOrDefault(queue) + 1;
        if (BitOperations.IsPow2(times))
            LogRefused(queue, times, reason, schedule.Interval.TotalSeconds);
    }

    private void NoteTaken(string queue)
    {
        if (refusals.Remove(queue, out var times))
            LogTaken(queue, times);
    }

    [LoggerMessage(Level = LogLevel.Warning, Message = "Message {MessageId} is handled, and what it sent waits in the outbox: {Reason}")]
    private partial void LogTakenOver(Guid messageId, string reason);

    [LoggerMessage(
        Level = LogLevel.Error, Message = "Queue '{Queue}' does not take what waits for it in the outbox (refusal {Times}): " +
        "{Reason} Create the queue, or delete its records from the outbox. Tried again every {Seconds} s.")]
    private partial void LogRefused(string queue, int times, string reason, double seconds);

    [LoggerMessage(
        Level = LogLevel.Information, Message = "Queue '{Queue}' takes what waits for it in the outbox again, after {Times} refusals.")]
    private partial void LogTaken(string queue, int times);

    [LoggerMessage(Level = LogLevel.Warning, Message = "The outbox cannot be dispatched for now: {Reason} Tried again every {Seconds} s.")]
    private partial void LogDisturbed(string reason, double seconds);
}
