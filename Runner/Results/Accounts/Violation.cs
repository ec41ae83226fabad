namespace Kit.Runner.Results.Accounts;

/// <summary>Something found that a mode does not allow under a fault.</summary>
/// <param name="MessageId">The message; <see langword="null"/> for a prepared transaction that cannot be assigned to one.</param>
/// <param name="Because">What it is and what was allowed, in one line.</param>
/// <param name="Evidence">What was found, a line each.</param>
public sealed record Violation(Guid? MessageId, string Because, IReadOnlyList<string> Evidence)
{
    /// <summary>The reason of the <see cref="Guarantees.KnownLimit"/> that explains all of it; <see langword="null"/> if none does.</summary>
    public string? Known { get; init; }
}
