namespace Kit.Runner.Servers;

/// <summary>The result of one check.</summary>
/// <param name="Found">With secrets masked.</param>
/// <param name="Problem"><see langword="null"/> if there is none.</param>
/// <param name="IsFatal">True if a run cannot start with this problem. With any other, a run starts and its results name the problem.</param>
public sealed record Finding(string Name, string Found, string? Problem = null, string? Remedy = null, bool IsFatal = false)
{
    /// <summary>True for something optional that is missing, so that a run leaves its cells out.</summary>
    public bool IsLeftOut { get; init; }
}
