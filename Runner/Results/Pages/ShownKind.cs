using Kit.Modes;

namespace Kit.Runner.Results.Pages;

/// <summary>A framework on a transport, for pages.</summary>
/// <param name="Framework">As its makers write it.</param>
/// <param name="Transport">As its makers write it.</param>
/// <param name="HasBeenRun">True if somebody has run it.</param>
/// <param name="Modes">Support by mode.</param>
public sealed record ShownKind(string Framework, string Transport, bool HasBeenRun, IReadOnlyDictionary<TransactionMode, Support> Modes)
{
    /// <summary>True if this build lacks something for the modes that the pages show, and so cannot say what it can run.</summary>
    public bool IsMissing => Modes.Any(mode => ShownCells.Modes.Contains(mode.Key) && mode.Value.IsMissing);

    public bool Runs(TransactionMode mode) => Modes[mode].IsSupported;
}
