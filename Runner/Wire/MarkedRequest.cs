namespace Kit.Runner.Wire;

/// <summary>A request that is known by its text, and by the id of a message in it or before it: the first one after the gate was armed.</summary>
internal sealed record MarkedRequest : IMoment
{
    public const string Commit = "COMMIT";
    public const string Prepare = "PREPARE TRANSACTION '?'";
    public const string CommitPrepared = "COMMIT PREPARED '?'";

    /// <summary>The server that gets it, as requests name it; <see langword="null"/>: any.</summary>
    public string? Server { get; init; }

    /// <summary>Its text without its values; <see langword="null"/>: any.</summary>
    public string? Text { get; init; }

    /// <summary>The id that it carries; <see langword="null"/>: it need not carry one.</summary>
    public Guid? Carries { get; init; }

    /// <summary>The id that a request before it in its transaction carries; <see langword="null"/>: none need be before it.</summary>
    public Guid? Follows { get; init; }

    /// <summary>True if a request before it in its transaction must have deleted a row, as the receive from a table does.</summary>
    public bool EndsReceive { get; init; }

    /// <summary>True if what must have happened before it has; <see langword="null"/>: it may come at any time.</summary>
    public Func<bool>? IsDue { get; init; }

    /// <inheritdoc/>
    /// <remarks>An endpoint can look for its next message in a transaction that it has begun before.</remarks>
    public bool IsInAnyTransaction => true;

    public bool IsLike(SeenRequest asking) =>
        (Server ?? asking.Server, Text ?? asking.Text) == (asking.Server, asking.Text) && (Carries is not { } id || asking.Request.Carries(id));

    public string? WhyNotAnswered(string? outcome) =>
        outcome is "ROLLBACK" || outcome?.StartsWith("error", StringComparison.Ordinal) is true ? $"it was answered '{outcome}'" : null;

    public string? WhyNot(IReadOnlyList<SeenRequest> before, IEnumerable<SeenRequest> others, Func<SeenRequest, bool> isUnderWay) =>
        Follows is { } id && !before.Any(one => one.Request.Carries(id)) ? "no request before it in its transaction carries the message's id"
        : EndsReceive && !before.Any(one => HasDeleted(one.Request.Outcome)) ? "no request before it in its transaction has deleted a row"
        : IsDue?.Invoke() is false ? "it came too early"
        : null;

    /// <summary>True if PostgreSQL answered that it has deleted a row.</summary>
    public static bool HasDeleted(string? outcome) => outcome?.StartsWith("DELETE ", StringComparison.Ordinal) is true && outcome != "DELETE 0";

    public override string ToString() => Text ?? "the first request with the message's id";
}
