namespace Kit.Runner.Results.Accounts;

/// <summary>What was found after the drain of a fault-free round, before it is judged.</summary>
public sealed record RoundEvidence
{
    /// <summary>The messages that the clock ran for.</summary>
    public required IReadOnlySet<Guid> Messages { get; init; }

    /// <summary>The messages of the warm-up drain before.</summary>
    public required IReadOnlySet<Guid> WarmUp { get; init; }

    /// <summary>Where the messages of both left a trace; the seeded rows are not among them.</summary>
    public required History Found { get; init; }

    /// <summary>Whether each message makes its handler send one.</summary>
    public required bool Sends { get; init; }

    /// <summary>Rows that the restored table held before the first message.</summary>
    public required long SeedRows { get; init; }

    /// <summary>All rows of the table, seeded ones included, as the database counts them.</summary>
    public required long TableRows { get; init; }

    /// <summary>The messages that the handlers counted themselves, in one row; <see langword="null"/>: they count none.</summary>
    public required long? Counted { get; init; }
}
