namespace Kit.Runner.Results.Accounts;

/// <summary>The answer that the producer got for a message that it sent.</summary>
public enum SendResult
{
    /// <summary>The transport confirmed it.</summary>
    Acked,

    /// <summary>The transport refused it.</summary>
    Failed,

    /// <summary>No answer came.</summary>
    Unknown,
}

/// <summary>One line of the producer's journal. A producer sends each message once.</summary>
public sealed record Sending(Guid MessageId, SendResult Result);

/// <summary>A row that an attempt inserted and whose commit is visible.</summary>
/// <param name="Id">The row's own id, new for each insert.</param>
/// <param name="AttemptId">The attempt, as stored in the row; empty if attempts have no ids.</param>
public sealed record WidgetRow(long Id, Guid MessageId, Guid AttemptId);

/// <summary>A message from a handler that has arrived in its queue.</summary>
/// <param name="OutgoingId">Its own id. A receiver can discard a second message with the same id.</param>
/// <param name="CausedBy">The message whose handler sent it, as its body says.</param>
public sealed record SinkRow(Guid OutgoingId, Guid CausedBy)
{
    /// <summary>The handler's queue in which it has arrived, from 0.</summary>
    public int Queue { get; init; }

    /// <summary>The mistake in it: another queue or another body than its handler must send; <see langword="null"/>: none, as far as checked.</summary>
    public string? Mistake { get; init; }
}

/// <summary>A message in the input queue, found by a read that skips nothing.</summary>
/// <param name="Receivable">True if it can be received. A transport skips messages held by a transaction, including a prepared one.</param>
/// <param name="ClaimedBy">The PostgreSQL transaction that has received it and not committed (<c>xmax</c>), if known.</param>
public sealed record QueueEntry(Guid MessageId, bool Receivable, uint? ClaimedBy = null);

/// <summary>A line of <c>pg_prepared_xacts</c>.</summary>
/// <param name="GlobalId">Its <c>gid</c>.</param>
/// <param name="TransactionId">Its <c>transaction</c>, unique in the whole server.</param>
public sealed record PreparedTransaction(string GlobalId, uint TransactionId);

/// <summary>All traces that were found after an experiment or a round, once nothing changed any more. The order has no meaning.</summary>
public sealed record History
{
    /// <summary>The producer's journal.</summary>
    public required IReadOnlyCollection<Sending> Sendings { get; init; }

    /// <summary>The lines of the <see cref="AttemptJournal"/>.</summary>
    public required IReadOnlyCollection<AttemptLine> Attempts { get; init; }

    public required IReadOnlyCollection<WidgetRow> Rows { get; init; }

    public required IReadOnlyCollection<SinkRow> Sink { get; init; }

    /// <summary>The message ids in the error queue, each as often as it is there.</summary>
    public required IReadOnlyCollection<Guid> Errors { get; init; }

    public required IReadOnlyCollection<QueueEntry> Queue { get; init; }

    public required IReadOnlyCollection<PreparedTransaction> Prepared { get; init; }

    /// <summary>A copy without these messages. Prepared transactions stay.</summary>
    public History Without(IReadOnlySet<Guid> messages) => this with
    {
        Sendings = [.. Sendings.Where(sending => !messages.Contains(sending.MessageId))],
        Attempts = [.. Attempts.Where(line => !messages.Contains(line.MessageId))],
        Rows = [.. Rows.Where(row => !messages.Contains(row.MessageId))],
        Sink = [.. Sink.Where(row => !messages.Contains(row.CausedBy))],
        Errors = [.. Errors.Where(id => !messages.Contains(id))],
        Queue = [.. Queue.Where(entry => !messages.Contains(entry.MessageId))],
    };
}
