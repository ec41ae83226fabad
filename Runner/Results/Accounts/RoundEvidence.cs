namespace Kit.Runner.Results.Accounts;

/// <summary>What was found after the drain of a fault-free round, before it is judged.</summary>
public sealed record RoundEvidence
{
    /// <summary>The measured messages.</summary>
    public required IReadOnlySet<Guid> Messages { get; init; }

    /// <summary>The messages of the warm-up drain.</summary>
    public required IReadOnlySet<Guid> WarmUp { get; init; }

    /// <summary>The traces of the messages of both, without the seeded rows.</summary>
    public required History Found { get; init; }

    /// <summary>How often a handler returned, for the messages of both; <see langword="null"/>: nobody counted.</summary>
    public required int? Handled { get; init; }

    /// <summary>How many rows its handler inserts for each message.</summary>
    public int RowsPerMessage { get; init; } = 1;

    /// <summary>How many queues what the handler sends for each message must arrive in: the subscribers of an event; 0: it sends nothing.</summary>
    public required int Deliveries { get; init; }

    /// <summary>Rows in the restored table before the first message.</summary>
    public required long SeedRows { get; init; }

    /// <summary>All rows of the table, including seeded ones, as the database counts them.</summary>
    public required long TableRows { get; init; }

    /// <summary>The messages that the handlers counted themselves, in one row; <see langword="null"/>: they count none.</summary>
    public required long? Counted { get; init; }
}
