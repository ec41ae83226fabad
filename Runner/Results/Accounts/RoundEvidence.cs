namespace Kit.Runner.Results.Accounts;

/// <summary>The findings after the drain of a fault-free round, before they are judged.</summary>
public sealed record RoundEvidence
{
    /// <summary>The measured messages.</summary>
    public required IReadOnlySet<Guid> Messages { get; init; }

    /// <summary>The messages of the warm-up drain.</summary>
    public required IReadOnlySet<Guid> WarmUp { get; init; }

    /// <summary>The traces of the warm-up and of the measured messages, without the seeded rows.</summary>
    public required History Found { get; init; }

    /// <summary>Returns of a handler, for the messages of both; <see langword="null"/>: not counted.</summary>
    public required int? Handled { get; init; }

    /// <summary>Rows that its handler inserts for each message.</summary>
    public int RowsPerMessage { get; init; } = 1;

    /// <summary>Queues in which the handler's message must arrive: the subscribers of an event; 0: it sends nothing.</summary>
    public required int Deliveries { get; init; }

    /// <summary>Rows in the restored table before the first message.</summary>
    public required long SeedRows { get; init; }

    /// <summary>All rows of the table, including seeded ones, as the database counts them.</summary>
    public required long TableRows { get; init; }

    /// <summary>The messages that the handlers counted themselves, in one row; <see langword="null"/>: they count none.</summary>
    public required long? Counted { get; init; }
}
