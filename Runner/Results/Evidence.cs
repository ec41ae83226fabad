namespace Kit.Runner.Results;

/// <summary>What was found after the drain of a fault-free round, before it is judged.</summary>
public sealed record Evidence
{
    /// <summary>The messages that the clock ran for.</summary>
    public required IReadOnlySet<Guid> Messages { get; init; }

    /// <summary>The messages of the warm-up drain before.</summary>
    public required IReadOnlySet<Guid> WarmUp { get; init; }

    /// <summary>How many rows name each message, the seeded rows left out.</summary>
    public required IReadOnlyDictionary<Guid, int> RowsByMessage { get; init; }

    public required IReadOnlyCollection<Guid> ErrorQueue { get; init; }

    /// <summary>Messages that are still in the queue.</summary>
    public required IReadOnlyCollection<Guid> Queue { get; init; }

    /// <summary>Prepared transactions that are left in the databases of the round.</summary>
    public required int PreparedTransactions { get; init; }

    /// <summary>Rows that the restored table held before the first message.</summary>
    public required long SeedRows { get; init; }

    /// <summary>All rows of the table, seeded ones included, as the database counts them.</summary>
    public required long TableRows { get; init; }
}
