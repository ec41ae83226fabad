using System.Globalization;
using Kit.Modes;

namespace Kit.Runner.Results;

/// <summary>A run's rates by the values on one axis: a row for each value, a column for each mode.</summary>
/// <param name="Groups">Cells that differ in more than this axis and the mode are in groups of their own.</param>
internal sealed record GridTable(string Axis, IReadOnlyList<string> Modes, IReadOnlyList<GridGroup> Groups)
{
    private const string Legend =
        "Mean msg/s of the rounds that count. In the chart, a vertical line is a 95 % interval, and values are equally far apart. " +
        "A dash: not measured, or left out for a reason that is given below. Values of one axis are next to each " +
        "other, and the cells of a row differ only in the mode.";

    /// <summary>The axes that a grid varies; each value on them is a number.</summary>
    internal static IReadOnlyList<string> Axes { get; } = [AxisName.Size, AxisName.Handlers, AxisName.Pool, AxisName.Processes];

    public Table Table => new(
        [.. LeadingOf(Groups.Count == 1), new(Axis, IsFigure: false), .. Modes.Select(mode => new Column(mode))],
        [
            .. from @group in Groups
               from value in @group.Values
               select (IReadOnlyList<string>)
               [
                   .. Groups.Count == 1 ? [] : (string[])[@group.Others], value.Name,
                   .. Modes.Select(mode => Figures.Measured(value.Rates.GetValueOrDefault(mode)?.Mean)),
               ],
        ])
    { Title = $"By {Axis}", Legend = Legend };

    /// <summary>A table for each axis on which the run has several values.</summary>
    public static IReadOnlyList<GridTable> Of(RecordedRun run) => [.. Axes.Select(axis => Of(run, axis)).OfType<GridTable>()];

    /// <summary>The number that a value begins with, for example 20 of <c>20-handlers</c>; 0 if it begins with none.</summary>
    internal static int NumberOf(string value) =>
        int.TryParse(string.Concat(value.TakeWhile(char.IsAsciiDigit)), NumberStyles.None, CultureInfo.InvariantCulture, out var number) ? number : 0;

    private static GridTable? Of(RecordedRun run, string axis)
    {
        IReadOnlyList<GridGroup> groups =
        [
            .. from cell in run.Cells
               let value = cell.Cell.On(axis, run.Document.Implied)
               where value is not null
               group (Value: value, Cell: cell) by cell.Cell.Without(axis).Group into alike
               where alike.Select(one => one.Value).Distinct(StringComparer.Ordinal).Skip(1).Any()
               select new GridGroup(
                   alike.Key,
                   [
                       .. from same in alike.GroupBy(one => one.Value, StringComparer.Ordinal).OrderBy(same => NumberOf(same.Key))
                          select new GridValue(
                              same.Key, same.ToDictionary(one => one.Cell.Cell.Mode, one => one.Cell.Rate, StringComparer.Ordinal)),
                   ]),
        ];
        if (groups.Count == 0)
            return null;

        var measured = groups.SelectMany(group => group.Values).SelectMany(value => value.Rates.Keys).ToHashSet(StringComparer.Ordinal);
        IReadOnlyList<string> modes =
            [.. TransactionMode.All.Select(mode => mode.Name).Concat(measured).Distinct(StringComparer.Ordinal).Where(measured.Contains)];
        return new GridTable(axis, modes, groups);
    }

    /// <summary>The column of the other values of the cells, if they have several.</summary>
    internal static IEnumerable<Column> LeadingOf(bool isOne) => isOne ? [] : [new("Other values", IsFigure: false)];
}

/// <summary>Cells that differ in the value on the axis and in the mode only.</summary>
/// <param name="Values">In the order of their numbers.</param>
internal sealed record GridGroup(string Others, IReadOnlyList<GridValue> Values);

/// <summary>A value on the axis.</summary>
/// <param name="Rates">By mode; <see langword="null"/> if no round counts.</param>
internal sealed record GridValue(string Name, IReadOnlyDictionary<string, Estimate?> Rates);
