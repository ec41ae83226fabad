using Kit.Modes;

namespace Kit.Runner.Results.Pages;

/// <summary>A table with a row for each framework and transport, and a column for each mode.</summary>
internal static class ModeGrid
{
    /// <param name="textOf">The text of a place, from what was found there: one or more of <paramref name="all"/>.</param>
    public static Table Of<T>(IReadOnlyList<T> all, Func<T, CellName> cellOf, Func<IReadOnlyList<T>, string> textOf)
    {
        var places = all.ToLookup(one => (RowOf(cellOf(one)), cellOf(one).Mode));
        return Table.Of(
            [
                new("", row => row, IsFigure: false),
                .. TransactionMode.All.Select(mode => mode.Name).Where(name => all.Any(one => cellOf(one).Mode == name))
                    .Select(name => new Column<string>(
                        $"`{name}`", row => places[(row, name)].ToList() is { Count: > 0 } found ? textOf(found) : Figures.None, IsFigure: false)
                    { IsMarkdown = true }),
            ],
            all.Select(one => RowOf(cellOf(one))).Distinct(StringComparer.Ordinal));
    }

    private static string RowOf(CellName cell) =>
        string.Join('/', cell.Values.Where(value => value is not (AxisName.Mode, _) and not (AxisName.Access, ShownCells.Access)).Select(value => value.Value));
}
