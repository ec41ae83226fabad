using Kit.Runner.Results.Accounts;

namespace Kit.Tests.Results.Accounts;

/// <summary>Histories as no experiment has to make them: clean ones, and the traces to add to one message or to take from it.</summary>
internal static class InventedHistory
{
    /// <summary>All attempts of all messages work on one pooled session.</summary>
    public const int PooledProcess = 4711;

    public static History Empty { get; } = new()
    {
        Sendings = [],
        Attempts = [],
        Rows = [],
        Sink = [],
        Errors = [],
        Queue = [],
        Prepared = [],
    };

    public static Guid Message(int number) => new(number, 0, 0, [0, 0, 0, 0, 0, 0, 0, 0]);

    public static Guid Attempt(int message, int attempt) => new(message, 1, (short)attempt, [0, 0, 0, 0, 0, 0, 0, 0]);

    public static Guid Outgoing(int message, int outgoing) => new(message, 2, (short)outgoing, [0, 0, 0, 0, 0, 0, 0, 0]);

    public static uint Transaction(int message, int attempt) => (uint)((message * 100) + attempt);

    /// <summary>Every message acknowledged and handled once: one attempt, its rows, and what it sends.</summary>
    public static History Clean(int messages, Workload workload) =>
        Enumerable.Range(1, messages).Aggregate(Empty, (history, message) => history.Sent(message).Handled(message, attempt: 1, workload));

    public static History Sent(this History history, int message, SendResult result = SendResult.Acked) =>
        history with { Sendings = [.. history.Sendings, new Sending(Message(message), result)] };

    public static History NotSent(this History history, int message) =>
        history with { Sendings = [.. history.Sendings.Where(sending => sending.MessageId != Message(message))] };

    public static History Handled(this History history, int message, int attempt, Workload workload)
    {
        history = history.Attempted(message, attempt, AttemptPoint.Returned);
        for (var row = 0; row < workload.RowsPerAttempt; row++)
            history = history.Row(message, attempt);
        for (var queue = 0; workload.Sends && queue < workload.Deliveries; queue++)
            history = history.Arrived(message, outgoing: attempt, queue: queue);
        return history;
    }

    /// <summary>An attempt that got as far as <paramref name="reached"/> and no further.</summary>
    public static History Attempted(this History history, int message, int attempt, AttemptPoint reached) => history with
    {
        Attempts =
        [
            .. history.Attempts,
            .. Enum.GetValues<AttemptPoint>().Where(point => point <= reached).Select(point => new AttemptLine(
                Message(message), Attempt(message, attempt), point,
                point < AttemptPoint.AfterFirstInsert ? [] : [new Backend(PooledProcess, Transaction(message, attempt))])),
        ],
    };

    public static History NotAttempted(this History history, int message) =>
        history with { Attempts = [.. history.Attempts.Where(line => line.MessageId != Message(message))] };

    public static History Row(this History history, int message, int attempt) =>
        history with { Rows = [.. history.Rows, new WidgetRow(history.Rows.Count + 1, Message(message), Attempt(message, attempt))] };

    public static History DropRow(this History history, int message)
    {
        var dropped = history.Rows.First(row => row.MessageId == Message(message));
        return history with { Rows = [.. history.Rows.Where(row => row != dropped)] };
    }

    public static History Arrived(this History history, int message, int outgoing, string? mistake = null, int queue = 0) =>
        history with { Sink = [.. history.Sink, new SinkRow(Outgoing(message, outgoing), Message(message)) { Queue = queue, Mistake = mistake }] };

    public static History DropSink(this History history, int message) =>
        history with { Sink = [.. history.Sink.Where(row => row.CausedBy != Message(message))] };

    public static History InErrorQueue(this History history, int message) => history with { Errors = [.. history.Errors, Message(message)] };

    public static History DropError(this History history, int message) =>
        history with { Errors = [.. history.Errors.Where(id => id != Message(message))] };

    public static History Queued(this History history, int message, bool receivable = true, uint? claimedBy = null) =>
        history with { Queue = [.. history.Queue, new QueueEntry(Message(message), receivable, claimedBy)] };

    public static History DropQueued(this History history, int message) =>
        history with { Queue = [.. history.Queue.Where(entry => entry.MessageId != Message(message))] };

    public static History LeftPrepared(this History history, uint transaction, string globalId = "kit/7/16384/99") =>
        history with { Prepared = [.. history.Prepared, new PreparedTransaction(globalId, transaction)] };

    public static History NothingPrepared(this History history) => history with { Prepared = [] };

    /// <summary>The same evidence in another order.</summary>
    public static History Shuffled(this History history, int seed)
    {
        var random = new Random(seed);
        T[] Shuffle<T>(IEnumerable<T> found)
        {
            var shuffled = found.ToArray();
            random.Shuffle(shuffled);
            return shuffled;
        }

        return new()
        {
            Sendings = Shuffle(history.Sendings),
            Attempts = Shuffle(history.Attempts.Select(line => line with { Backends = Shuffle(line.Backends) })),
            Rows = Shuffle(history.Rows),
            Sink = Shuffle(history.Sink),
            Errors = Shuffle(history.Errors),
            Queue = Shuffle(history.Queue),
            Prepared = Shuffle(history.Prepared),
        };
    }

    /// <summary>What was found of one message alone.</summary>
    public static History Of(this History history, Guid message) => history with
    {
        Sendings = [.. history.Sendings.Where(sending => sending.MessageId == message)],
        Attempts = [.. history.Attempts.Where(line => line.MessageId == message)],
        Rows = [.. history.Rows.Where(row => row.MessageId == message)],
        Sink = [.. history.Sink.Where(row => row.CausedBy == message)],
        Errors = [.. history.Errors.Where(id => id == message)],
        Queue = [.. history.Queue.Where(entry => entry.MessageId == message)],
    };
}
