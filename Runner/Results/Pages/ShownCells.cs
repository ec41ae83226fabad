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
