namespace Kit.Modes;

/// <summary>Whether something can run, and if not, why not.</summary>
/// <param name="Because">The reason it cannot run, in words for a user; <see langword="null"/> where it can.</param>
public sealed record Support(string? Because)
{
    public static Support Yes { get; } = new((string?)null);

    public static Support No(string because) => new(because);

    public bool IsSupported => Because is null;
}
