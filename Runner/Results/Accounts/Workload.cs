namespace Kit.Runner.Results.Accounts;

/// <summary>The traces of one undisturbed attempt, and the parts that commit together.</summary>
/// <param name="RowsPerAttempt">Rows that an attempt inserts. With 2, a half-done attempt is visible; with 0, its message is its only effect.</param>
/// <param name="Sends">
/// True if an attempt sends a message. Without it, and without rows, there are no ghosts, and zombies only among dead letters.
/// </param>
/// <param name="ReceiveIsBranch">
/// True if the receive is a branch of the same unit as the insert, so that a message's absence from its queue proves that
/// the unit committed, as in <c>full-dtc</c> and <c>npgsql-scope</c>.
/// </param>
public sealed record Workload(int RowsPerAttempt, bool Sends, bool ReceiveIsBranch)
{
    /// <summary>A measured handler: one row or none, one message, one event or none, and no journal of its attempts.</summary>
    /// <param name="deliveries">Queues in which its message must arrive; 0: it sends none.</param>
    public static Workload Measured(int rowsPerAttempt, int deliveries) => new(rowsPerAttempt, Sends: deliveries > 0, ReceiveIsBranch: false)
    {
        Deliveries = Math.Max(1, deliveries),
        HasJournal = false,
    };

    /// <summary>Queues in which the message of an attempt must arrive, once in each: 1, or the number of an event's subscribers.</summary>
    public int Deliveries { get; init; } = 1;

    /// <summary>True if every attempt is in the <see cref="AttemptJournal"/>, so that a row or a message without an attempt is a mistake.</summary>
    public bool HasJournal { get; init; } = true;

    /// <exception cref="ArgumentOutOfRangeException">No row and no message: an attempt that leaves nothing cannot be accounted for.</exception>
    public int RowsPerAttempt { get; } = RowsPerAttempt >= (Sends ? 0 : 1)
        ? RowsPerAttempt
        : throw new ArgumentOutOfRangeException(
            nameof(RowsPerAttempt), RowsPerAttempt, $"Expected {(Sends ? "0 rows" : "1 row")} or more: an attempt must leave something.");
}
