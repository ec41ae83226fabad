namespace Kit.Modes;

/// <summary>Whether something can run, and if not, why not.</summary>
/// <param name="Because">Why it cannot run, for the user to read; <see langword="null"/> if it can.</param>
/// <param name="IsMissing">Whether it would run with something that this build or machine lacks; <see langword="false"/> if it never can.</param>
public sealed record Support(string? Because, bool IsMissing)
{
    public static Support Yes { get; } = new(Because: null, IsMissing: false);

    /// <summary>It can never run, on any machine.</summary>
    public static Support No(string because) => new(because, IsMissing: false);

    /// <summary>It could run with something that this build or machine lacks.</summary>
    public static Support Missing(string because) => new(because, IsMissing: true);

    public bool IsSupported => Because is null;
}
