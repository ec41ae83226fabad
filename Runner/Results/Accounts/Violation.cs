namespace Kit.Runner.Results.Accounts;

/// <summary>Something found that a mode does not allow under a fault.</summary>
/// <param name="MessageId"><see langword="null"/> for a prepared transaction that cannot be assigned to a message.</param>
/// <param name="Because">The finding and the allowed classes, in one line.</param>
/// <param name="Evidence">One finding a line.</param>
public sealed record Violation(Guid? MessageId, string Because, IReadOnlyList<string> Evidence)
{
    /// <summary>The reason of the <see cref="Guarantees.KnownLimit"/> that explains all of it; <see langword="null"/> if none does.</summary>
    public string? Known { get; init; }
}
