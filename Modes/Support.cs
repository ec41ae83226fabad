namespace Kit.Modes;

/// <summary>Whether something can run, and if not, why not.</summary>
/// <param name="Because">The reason it cannot run, in words for a user; <see langword="null"/> where it can.</param>
/// <param name="IsMissing">Whether it would run with something that this build or machine lacks; <see langword="false"/> where it never can.</param>
public sealed record Support(string? Because, bool IsMissing)
{
    public static Support Yes { get; } = new(Because: null, IsMissing: false);

    /// <summary>It never can, anywhere.</summary>
    public static Support No(string because) => new(because, IsMissing: false);

    /// <summary>It could, with what this build or machine lacks.</summary>
    public static Support Missing(string because) => new(because, IsMissing: true);

    public bool IsSupported => Because is null;
}
