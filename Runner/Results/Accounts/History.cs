namespace Kit.Runner.Results.Accounts;

/// <summary>What the producer was told of a message that it sent.</summary>
public enum SendResult
{
    /// <summary>The transport confirmed it.</summary>
    Acked,

    /// <summary>The transport refused it.</summary>
    Failed,

    /// <summary>Neither: the answer did not come.</summary>
    Unknown,
}

/// <summary>One line of the producer's journal. A producer sends each message once.</summary>
public sealed record Sending(Guid MessageId, SendResult Result);

/// <summary>A row that an attempt inserted and whose commit is visible.</summary>
/// <param name="Id">The row's own id, new for each insert.</param>
/// <param name="AttemptId">The attempt, as the row bears it; empty where attempts have no ids.</param>
public sealed record WidgetRow(long Id, Guid MessageId, Guid AttemptId);

/// <summary>A message of a handler that arrived where it was sent to.</summary>
/// <param name="OutgoingId">Its own id. Twice the same id is one that its receiver can discard.</param>
/// <param name="CausedBy">The message whose handler sent it, as its body says.</param>
public sealed record SinkRow(Guid OutgoingId, Guid CausedBy);

/// <summary>A message that lies in the input queue, by a count that skips nothing.</summary>
/// <param name="Receivable">Whether a receive could take it. A transport passes over what a transaction holds, a prepared one as well.</param>
/// <param name="ClaimedBy">The PostgreSQL transaction that took it and has not committed (<c>xmax</c>), where that is known.</param>
public sealed record QueueEntry(Guid MessageId, bool Receivable, uint? ClaimedBy = null);

/// <summary>A line of <c>pg_prepared_xacts</c>.</summary>
/// <param name="GlobalId">Its <c>gid</c>.</param>
/// <param name="TransactionId">Its <c>transaction</c>, unique in the whole server.</param>
public sealed record PreparedTransaction(string GlobalId, uint TransactionId);

/// <summary>All that was found of an experiment or a round once nothing moved any more. The order of what is found means nothing.</summary>
public sealed record History
{
    /// <summary>The producer's journal.</summary>
    public required IReadOnlyCollection<Sending> Sendings { get; init; }

    /// <summary>The lines of the <see cref="AttemptJournal"/>.</summary>
    public required IReadOnlyCollection<AttemptLine> Attempts { get; init; }

    public required IReadOnlyCollection<WidgetRow> Rows { get; init; }

    public required IReadOnlyCollection<SinkRow> Sink { get; init; }

    /// <summary>The message ids in the error queue, each as often as it lies there.</summary>
    public required IReadOnlyCollection<Guid> Errors { get; init; }

    public required IReadOnlyCollection<QueueEntry> Queue { get; init; }

    public required IReadOnlyCollection<PreparedTransaction> Prepared { get; init; }
}
