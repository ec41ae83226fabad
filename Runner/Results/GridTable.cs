using System.Globalization;
using Kit.Modes;

namespace Kit.Runner.Results;

/// <summary>A run's rates by the values on one axis: a row for each value, a column for each mode.</summary>
/// <param name="Axis">The axis.</param>
/// <param name="Headers">What its columns are: the cells if they differ in more than this axis and the mode, the value, the modes.</param>
/// <param name="Rows">The rows.</param>
internal sealed record GridTable(string Axis, IReadOnlyList<string> Headers, IReadOnlyList<IReadOnlyList<string>> Rows)
{
    public const string Legend =
        "Mean msg/s of the rounds that count. A dash: not measured, or left out for a reason that is given below. Values of one axis are next to each " +
        "other, and the cells of a row differ only in the mode.";

    private const string Others = "Other values";

    /// <summary>Those that a grid varies; each value of them is a number.</summary>
    internal static IReadOnlyList<string> Axes { get; } = [RecordedRun.SizeAxis, RecordedRun.HandlersAxis, RecordedRun.PoolAxis, RecordedRun.ProcessesAxis];

    /// <summary>A table for each axis on which the run has several values.</summary>
    public static IReadOnlyList<GridTable> Of(RecordedRun run) => [.. Axes.Select(axis => Of(run, axis)).OfType<GridTable>()];

    /// <summary>Whether a column contains figures, which are right-aligned.</summary>
    public bool IsFigure(string header) => header is not Others && header != Axis;

    /// <summary>The number that a value begins with, for example 20 of <c>20-handlers</c>; 0 if it begins with none.</summary>
    internal static int NumberOf(string value) =>
        int.TryParse(string.Concat(value.TakeWhile(char.IsAsciiDigit)), NumberStyles.None, CultureInfo.InvariantCulture, out var number) ? number : 0;

    private static GridTable? Of(RecordedRun run, string axis)
    {
        var rows =
        (
            from cell in run.Cells
            let value = cell.Cell.On(axis, run.Document.Implied)
            where value is not null
            group (Value: value, Cell: cell) by cell.Cell.Without(axis).Group into alike
            where alike.Select(one => one.Value).Distinct(StringComparer.Ordinal).Skip(1).Any()
            from same in alike.GroupBy(one => one.Value, StringComparer.Ordinal).OrderBy(same => NumberOf(same.Key))
            select (Others: alike.Key, Value: same.Key, Rates: same.ToDictionary(one => one.Cell.Cell.Mode, one => one.Cell.Rate?.Mean, StringComparer.Ordinal))
        ).ToList();
        if (rows.Count == 0)
            return null;

        var measured = rows.SelectMany(row => row.Rates.Keys).ToHashSet(StringComparer.Ordinal);
        IReadOnlyList<string> modes =
            [.. TransactionMode.All.Select(mode => mode.Name).Concat(measured).Distinct(StringComparer.Ordinal).Where(measured.Contains)];
        var isOne = rows.Select(row => row.Others).Distinct(StringComparer.Ordinal).Count() == 1;
        return new GridTable(
            axis,
            [.. Leading(isOne, Others), axis, .. modes],
            [
                .. rows.Select(row => (IReadOnlyList<string>)
                    [.. Leading(isOne, row.Others), row.Value, .. modes.Select(mode => Figures.Measured(row.Rates.GetValueOrDefault(mode)))]),
            ]);
    }

    private static IEnumerable<string> Leading(bool isLeftOut, string text) => isLeftOut ? [] : [text];
}
