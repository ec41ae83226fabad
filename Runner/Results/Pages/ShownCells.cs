using Kit.Modes;

namespace Kit.Runner.Results.Pages;

/// <summary>The cells of a folder that the pages show, whatever else is in it.</summary>
internal static class ShownCells
{
    /// <summary>The access library with which modes are compared.</summary>
    public const string Access = "ado";

    /// <summary>The default matrix, and the modes next to it on the front page.</summary>
    public static IReadOnlyList<TransactionMode> Modes { get; } = [.. TransactionMode.Matrix, TransactionMode.Shared, TransactionMode.Outbox];

    /// <summary>True if it is measured as the default matrix is, but for the handler.</summary>
    /// <param name="scenario"><see langword="null"/>: one insert, which names leave out.</param>
    public static bool IsPlain(CellName cell, string? scenario = null) =>
        string.Equals(cell.On(AxisName.Scenario), scenario, StringComparison.Ordinal)
        && cell.Values.All(value =>
            CellName.Required.Contains(value.Axis) || value is (AxisName.Scenario, _) or (AxisName.Access, Access));

    /// <inheritdoc cref="IsPlain"/>
    public static bool IsBareOnPostgreSql(CellName cell, string? scenario = null) =>
        IsPlain(cell, scenario) && cell is { Framework: RecordedRun.Floor, Transport: "postgresql" };
}

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
