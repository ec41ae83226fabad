using System.Numerics;
using Kit.Endpoints.Bare.Health;
using Microsoft.Extensions.Logging;

namespace Kit.Endpoints.Bare.Outbox;

/// <summary>
/// Dispatches the sends that wait in the outbox because their dispatch failed or a crash left them there. It searches when the endpoint starts
/// and then every few seconds. Several processes share the work, because each claims the records of one message at a time.
/// </summary>
/// <remarks>
/// Each record is sent separately, those of one handler in its order. A refused record waits alone, and holds back no other. If its queue is missing or full,
/// the others for that queue are not tried in the same search, because they would be refused, too. The send commits first and its record is deleted
/// afterwards: after a crash between the two, the message is sent again, with the same id.
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

    /// <summary>The queues that refuse every message, and in how many searches in a row.</summary>
    private readonly Dictionary<string, int> refusals = new(StringComparer.Ordinal);

    /// <summary>The same of records that their queue refuses alone, and of messages whose records cannot be read, which have no position.</summary>
    private Dictionary<(Guid CausationId, int? Position), int> refused = [];

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

    /// <param name="outbox">The outbox to search.</param>
    /// <param name="connect">Connects to the queues. Called when something waits.</param>
    /// <param name="schedule">How often to search.</param>
    /// <param name="log">Logs what cannot be dispatched.</param>
    public static OutboxDispatcher Start(
        OutboxStore outbox, Func<CancellationToken, Task<IOutboxSender>> connect, OutboxSchedule schedule, ILogger log) =>
        new(outbox, connect, schedule, log);

    /// <summary>Takes over the sends of a handled message whose dispatch failed. The message itself does not fail.</summary>
    public void TakeOver(Guid messageId, Exception failure) => LogTakenOver(messageId, Failure.ReasonOf(failure).Message);

    /// <summary>Starts no further dispatch, and waits for the one under way.</summary>
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
                try
                {
                    await SearchAsync(stopping.Token);
                }
                finally
                {
                    // Also when the queues are out of reach: that is when records wait.
                    Backlog = await outbox.ReadBacklogAsync(stopping.Token);
                }

                await outbox.ForgetOldAsync(stopping.Token);
                failures = 0;
            }
            catch (Exception failure) when (!stopping.IsCancellationRequested)
            {
                outbox.LeaveReadOnly(failure);
                if (BitOperations.IsPow2(++failures))
                    LogDisturbed(failure.Message, schedule.Interval.TotalSeconds);
            }
            catch (Exception)
            {
                // Undispatched sends wait for the next start.
                return;
            }

            await Task.Delay(schedule.Interval, stopping.Token).ConfigureAwait(ConfigureAwaitOptions.SuppressThrowing);
        }
    }

    private async Task SearchAsync(CancellationToken cancellationToken)
    {
        await outbox.ForgetLateAsync(cancellationToken);
        var search = new Search();
        IReadOnlyList<WaitingRecord> page = [];
        do
        {
            var after = page is [.., var last] ? last.CausationId : Guid.Empty;
            page = await outbox.ReadWaitingAsync(after, search.Queues, PageSize, cancellationToken);
            if (page.Count == 0)
                break;

            await Task.Delay(schedule.Grace, cancellationToken);
            await using var route = await OutboxRoute.OpenAsync(connect, cancellationToken);
            // Evaluated lazily: once a queue has refused, this search sends it nothing more.
            var accepted = page.Where(record => !search.Queues.Contains(record.Queue));
            foreach (var messageId in accepted.Select(record => record.CausationId).Distinct())
                await DispatchAsync(messageId, route, search, cancellationToken);
        }
        while (page.Count == PageSize);

        // What is no longer refused, or was deleted, is forgotten.
        refused = search.Records;
    }

    private async Task DispatchAsync(Guid messageId, OutboxRoute route, Search search, CancellationToken cancellationToken)
    {
        OutboxClaim? read;
        try
        {
            read = await outbox.ClaimAsync(messageId, cancellationToken);
        }
        catch (ArgumentException unreadable)
        {
            NoteRefusal(search, messageId, position: null, unreadable.Message);
            return;
        }

        await using var claim = read;
        if (claim is null)
            return;

        var dispatched = new List<OutboxRecord>();
        try
        {
            foreach (var record in claim.Records.Where(record => !search.Queues.Contains(record.Message.Queue)))
            {
                var refusal = await route.SendAsync(record.Message, cancellationToken);
                if (refusal is { IsOfTheQueue: true })
                {
                    search.Queues.Add(record.Message.Queue);
                    NoteRefusal(record.Message.Queue, refusal.Reason);
                }
                else if (refusal is not null)
                {
                    NoteRefusal(search, messageId, record.Position, refusal.Reason);
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

    /// <summary>Logs the 1st refusal, the 2nd, the 4th, the 8th and so on, so that a missing queue does not fill the log.</summary>
    private void NoteRefusal(string queue, string reason)
    {
        var times = refusals[queue] = refusals.GetValueOrDefault(queue) + 1;
        if (BitOperations.IsPow2(times))
            LogRefused(queue, times, reason, schedule.Interval.TotalSeconds);
    }

    private void NoteRefusal(Search search, Guid messageId, int? position, string reason)
    {
        var times = search.Records[(messageId, position)] = refused.GetValueOrDefault((messageId, position)) + 1;
        if (BitOperations.IsPow2(times))
            LogRefusedAlone(messageId, times, reason, schedule.Interval.TotalSeconds, outbox.Deleting(messageId, position));
    }

    private void NoteTaken(string queue)
    {
        if (refusals.Remove(queue, out var times))
            LogTaken(queue, times);
    }

    [LoggerMessage(Level = LogLevel.Warning, Message = "Message {MessageId} is handled, and its sends wait in the outbox: {Reason}")]
    private partial void LogTakenOver(Guid messageId, string reason);

    [LoggerMessage(
        Level = LogLevel.Error, Message = "Queue '{Queue}' refuses the messages that wait for it in the outbox (refusal {Times}): " +
        "{Reason} Create the queue, or delete its records from the outbox. Retried every {Seconds} s.")]
    private partial void LogRefused(string queue, int times, string reason, double seconds);

    [LoggerMessage(
        Level = LogLevel.Error,
        Message = "A message that the handler of message {MessageId} sent is refused, and waits alone in the outbox (refusal {Times}): {Reason} " +
        "Retried every {Seconds} s. If it can never be sent, delete it: {Statement}")]
    private partial void LogRefusedAlone(Guid messageId, int times, string reason, double seconds, string statement);

    [LoggerMessage(
        Level = LogLevel.Information, Message = "Queue '{Queue}' accepts messages from the outbox again, after {Times} refusals.")]
    private partial void LogTaken(string queue, int times);

    [LoggerMessage(Level = LogLevel.Warning, Message = "The outbox cannot be dispatched or cleaned up at the moment: {Reason} Retried every {Seconds} s.")]
    private partial void LogDisturbed(string reason, double seconds);

    /// <summary>What one search has found.</summary>
    private sealed class Search
    {
        /// <summary>The queues that refuse every message.</summary>
        public HashSet<string> Queues { get; } = new(StringComparer.Ordinal);

        /// <summary>The records that are refused alone, and in how many searches in a row.</summary>
        public Dictionary<(Guid CausationId, int? Position), int> Records { get; } = [];
    }
}
