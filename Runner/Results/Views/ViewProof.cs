namespace Kit.Runner.Results.Views;

/// <summary>The experiments on one cell.</summary>
/// <param name="Subject">The cell's name with dots.</param>
/// <param name="Cell">The cell's name.</param>
/// <param name="Experiments">Storms and single faults, in the order of reports.</param>
public sealed record ViewProof(string Subject, string Cell, IReadOnlyList<ViewExperiment> Experiments);

/// <summary>An experiment, and what it found.</summary>
/// <param name="Fault">What went wrong.</param>
/// <param name="What">The same in words; <see langword="null"/> for a storm.</param>
/// <param name="Verdict">How it ended.</param>
/// <param name="Promised">The promised classes.</param>
/// <param name="Observed">The classes that were seen; why nothing was, where the experiment shows nothing.</param>
/// <param name="IsOnce">Whether every message was handled exactly once, as promised.</param>
/// <param name="Commit">Its build, if that is not the one that was measured.</param>
/// <param name="Evidence">Its line.</param>
/// <param name="Found">What was found, if not every message was handled exactly once.</param>
public sealed record ViewExperiment(
    string Fault, string? What, string Verdict, string Promised, string Observed, bool IsOnce, string? Commit, FileLine Evidence,
    IReadOnlyList<string> Found);
