using System.Globalization;
using CsvHelper;
using Kit.Guarantees;

namespace Kit.Runner.Results;

/// <summary>
/// A file for other tools: a line for each row, with a column for each axis of the cells first. Invariant culture, figures in full, an empty
/// field for an unknown value.
/// </summary>
internal static class CellsCsv
{
    /// <param name="implied">The values that names of cells leave out.</param>
    public static void Write<T>(
        IEnumerable<CellName> cells, IReadOnlyDictionary<string, string>? implied, IReadOnlyList<(string Name, Func<T, object?> Value)> columns,
        IEnumerable<(CellName Cell, T Row)> rows, TextWriter output)
    {
        using var csv = CsvWriter.Create(output, new CsvWriterOptions { NewLine = "\n" }, leaveOpen: true);
        var axes = CellName.AxesOf(cells);
        csv.WriteHeader([.. axes, .. columns.Select(column => column.Name)]);
        foreach (var (cell, row) in rows)
        {
            csv.WriteRecord(
            [
                .. axes.Select(axis => cell.On(axis, implied)),
                .. columns.Select(column => Convert.ToString(column.Value(row), CultureInfo.InvariantCulture)),
            ]);
        }
    }

    /// <summary>A column for each class of messages.</summary>
    public static IEnumerable<(string Name, Func<T, object?> Value)> ClassesOf<T>(Func<T, IReadOnlyDictionary<DeliveryClass, int>> countsOf) =>
        Enum.GetValues<DeliveryClass>().Select(kind => (
            Words.ColumnOf(kind), (Func<T, object?>)(row => countsOf(row).TryGetValue(kind, out var count) ? count : null)));
}
