using Kit.Endpoints.Cells;
using Kit.Handlers;

namespace Kit.Runner.Faults.Experiments;

/// <summary>The names of cells in the tokens of points. They leave out the access library that is measured by default.</summary>
internal static class PointCells
{
    private const string Default = $".{AccessLibrary.Baseline}";

    public static string NameOf(Cell cell) => cell.Name.EndsWith(Default, StringComparison.Ordinal) ? cell.Name[..^Default.Length] : cell.Name;

    /// <summary>The cell of that name; <see langword="null"/> if there is none.</summary>
    public static Cell? Find(string name) => Cell.All.FirstOrDefault(cell => cell.IsOfExperiments && (NameOf(cell) == name || cell.Name == name));
}
