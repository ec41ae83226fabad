namespace Kit.Runner.Results.Views;

/// <summary>The experiments on one cell.</summary>
/// <param name="Subject">The cell's name with dots.</param>
/// <param name="Experiments">Storms and single faults, in the order of reports.</param>
public sealed record ViewProof(string Subject, string Cell, IReadOnlyList<ViewExperiment> Experiments);

/// <summary>An experiment with its findings.</summary>
/// <param name="What">The fault in words; <see langword="null"/> for a storm.</param>
/// <param name="Observed">The observed classes; the reason why there are none, where the experiment shows nothing.</param>
/// <param name="IsOnce">True if every message was handled exactly once, as promised.</param>
/// <param name="Commit">Its build, if that is not the measured one.</param>
/// <param name="Found">The findings, if not every message was handled exactly once.</param>
public sealed record ViewExperiment(
    string Fault, string? What, string Verdict, string Promised, string Observed, bool IsOnce, string? Commit, FileLine Evidence,
    IReadOnlyList<string> Found);

/// <summary>The place of a figure in the files of a folder.</summary>
/// <param name="Line">From 1.</param>
public sealed record FileLine(string Folder, string File, int Line)
{
    public override string ToString() => $"{Folder}/{File}:{Figures.Plain(Line)}";
}

/// <summary>The ids of the parts of a page that hold evidence.</summary>
public static class ViewAnchors
{
    /// <summary>The rounds of a cell.</summary>
    public static string Speed(string id) => $"rounds-{id}";

    /// <summary>The experiments on a cell.</summary>
    public static string Proof(string subject) => $"proof-{subject}";
}
