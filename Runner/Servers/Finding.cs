namespace Kit.Runner.Servers;

/// <summary>What one check found.</summary>
/// <param name="Name">What was looked at.</param>
/// <param name="Found">What is there, secrets masked.</param>
/// <param name="Problem">Why that is a problem; <see langword="null"/> where it is none.</param>
/// <param name="Remedy">What to do about the problem.</param>
/// <param name="IsFatal">Whether a run cannot start with this problem; without it, a run starts and its results say so.</param>
public sealed record Finding(string Name, string Found, string? Problem = null, string? Remedy = null, bool IsFatal = false);
