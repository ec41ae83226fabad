using Kit.Guarantees;

namespace Kit.Runner.Results.Accounts;

/// <summary>The traces of one message.</summary>
internal sealed record Traces
{
    public required IReadOnlyList<Sending> Sendings { get; init; }

    public required IReadOnlyList<AttemptLine> Attempts { get; init; }

    public required IReadOnlyList<WidgetRow> Rows { get; init; }

    public required IReadOnlyList<SinkRow> Sink { get; init; }

    public required int Errors { get; init; }

    public required IReadOnlyList<QueueEntry> Queue { get; init; }

    public required IReadOnlyList<PreparedTransaction> Prepared { get; init; }

    public bool SentAs(SendResult result) => Sendings is [var sending] && sending.Result == result;

    /// <summary>True if it left any trace outside its producer.</summary>
    public bool IsFound => Attempts.Count > 0 || Rows.Count > 0 || Sink.Count > 0 || Errors > 0 || Queue.Count > 0 || Prepared.Count > 0;

    /// <summary>True if an attempt at it left anything, including a failure.</summary>
    public bool HasOutcome => Rows.Count > 0 || Sink.Count > 0 || Errors > 0;

    /// <summary>Queues that have got its message.</summary>
    public int QueuesReached => Sink.Select(row => row.Queue).Distinct().Count();

    /// <summary>True if its message has arrived twice in a queue, or in more queues than it is for.</summary>
    public bool HasTooMuchIn(int deliveries) => Sink.Count > deliveries || Sink.Count > QueuesReached;

    /// <summary>Ids of its messages, counted in each queue.</summary>
    public int OutgoingIds => Sink.Select(row => (row.Queue, row.OutgoingId)).Distinct().Count();

    public bool HasRowOfNoAttempt => Rows.ExceptBy(Attempts.Select(line => line.AttemptId), row => row.AttemptId).Any();

    /// <summary>True if an attempt left rows, but fewer than <paramref name="whole"/>.</summary>
    public bool HasHalfAttempt(int whole) => Rows.GroupBy(row => row.AttemptId).Any(attempt => attempt.Count() < whole);

    public VerdictFlags Flags(int rowsPerAttempt)
    {
        var flags = VerdictFlags.None;
        foreach (var (flag, holds) in new[]
        {
            (VerdictFlags.InErrorQueue, Errors > 0),
            (VerdictFlags.HalfDone, HasHalfAttempt(rowsPerAttempt)),
            (VerdictFlags.Prepared, Prepared.Count > 0),
            (VerdictFlags.Receivable, Queue.Any(entry => entry.Receivable)),
            (VerdictFlags.Unreceivable, Queue.Any(entry => !entry.Receivable)),
            (VerdictFlags.SameOutgoingId, OutgoingIds < Sink.Count),
            (VerdictFlags.SendUnknown, SentAs(SendResult.Unknown)),
        })
        {
            if (holds)
                flags |= flag;
        }

        return flags;
    }

    /// <summary>A line for each finding, independent of the order in which they were found.</summary>
    public IEnumerable<string> Lines() =>
    [
        Sendings.Count == 0 ? "never sent" : $"sent: {string.Join(", ", Sendings.Select(sending => Words.Of(sending.Result)).Order())}",
        .. Attempts.GroupBy(line => line.AttemptId).OrderBy(attempt => attempt.Key).Select(Line),
        .. Rows.OrderBy(row => row.Id).ThenBy(row => row.AttemptId).Select(row => $"row {row.Id} of attempt {row.AttemptId}"),
        .. Sink.Select(row => $"outgoing message {row.OutgoingId}{(row.Mistake is { } mistake ? $": {mistake}" : "")}").Order(),
        .. Errors > 0 ? [$"in the error queue: {Errors}"] : Array.Empty<string>(),
        .. Queue.Select(Line).Order(),
        .. Prepared.Select(Line).Order(),
    ];

    public static string Line(PreparedTransaction prepared) => $"prepared: {prepared.GlobalId}, transaction {prepared.TransactionId}";

    private static string Line(IGrouping<Guid, AttemptLine> attempt)
    {
        var points = attempt.Select(line => line.Point).Distinct().Order().Select(Words.Of);
        var backends = attempt.SelectMany(line => line.Backends).Distinct()
            .OrderBy(backend => backend.ProcessId).ThenBy(backend => backend.TransactionId)
            .Select(backend => $"; process {backend.ProcessId}{(backend.TransactionId is { } transaction ? $", transaction {transaction}" : "")}");
        return $"attempt {attempt.Key}: {string.Join(", ", points)}{string.Concat(backends)}";
    }

    private static string Line(QueueEntry entry) =>
        $"in the queue, {(entry.Receivable ? "receivable" : "not receivable")}" +
        $"{(entry.ClaimedBy is { } transaction ? $", claimed by transaction {transaction}" : "")}";
}
