namespace Kit.Runner.Results.Accounts;

/// <summary>What one undisturbed attempt leaves behind, and what commits with it.</summary>
/// <param name="RowsPerAttempt">Rows that an attempt inserts, 1 or more. With 2, a half-done attempt is visible.</param>
/// <param name="Sends">Whether an attempt sends a message. Without it there are no ghosts, and zombies only among dead letters.</param>
/// <param name="ReceiveIsBranch">
/// Whether the receive is a branch of the same unit as the insert, so that a message's absence from its queue proves that
/// the unit committed, as in <c>full-dtc</c> and <c>npgsql-scope</c>.
/// </param>
public sealed record Workload(int RowsPerAttempt, bool Sends, bool ReceiveIsBranch)
{
    /// <summary>A measured handler: one row, one message or none, and no journal of its attempts.</summary>
    public static Workload Measured(bool sends) => new(RowsPerAttempt: 1, sends, ReceiveIsBranch: false) { HasJournal = false };

    /// <summary>Whether every attempt is in the <see cref="AttemptJournal"/>, so that a row or a message without an attempt is a mistake.</summary>
    public bool HasJournal { get; init; } = true;

    /// <exception cref="ArgumentOutOfRangeException">Below 1: an attempt that leaves no row cannot be accounted for.</exception>
    public int RowsPerAttempt { get; } = RowsPerAttempt >= 1
        ? RowsPerAttempt
        : throw new ArgumentOutOfRangeException(nameof(RowsPerAttempt), RowsPerAttempt, "Expected 1 row or more.");
}
