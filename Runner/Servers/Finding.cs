namespace Kit.Runner.Servers;

/// <summary>What one check found.</summary>
/// <param name="Name">What was checked.</param>
/// <param name="Found">What was found, with secrets masked.</param>
/// <param name="Problem">Why that is a problem; <see langword="null"/> if it is none.</param>
/// <param name="Remedy">What to do about the problem.</param>
/// <param name="IsFatal">Whether a run cannot start with this problem. With any other, a run starts and its results say so.</param>
public sealed record Finding(string Name, string Found, string? Problem = null, string? Remedy = null, bool IsFatal = false)
{
    /// <summary>Whether it is something optional that is not here, so that a run leaves its cells out.</summary>
    public bool IsLeftOut { get; init; }
}
