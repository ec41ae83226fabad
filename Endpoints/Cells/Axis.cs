using Kit.Modes;

namespace Kit.Endpoints.Cells;

/// <summary>
/// One dimension of the matrix: its name, a cell's value on it, the values that are measured by default, and the cells that it rules out. The
/// command line, documents, tables and comparisons read the list of <see cref="Cell.Axes"/>. Reports know the first three by name, because they
/// know what a framework, a transport and a mode mean.
/// </summary>
/// <param name="Name">Its name in options and documents: <c>transport</c>.</param>
/// <param name="Plural">The plural, for use in a sentence.</param>
/// <param name="ValueOf">Returns the cell's value on it, as names and documents have it.</param>
public sealed record Axis(string Name, string Plural, Func<Cell, string> ValueOf)
{
    /// <summary>The values that are measured by default; <see langword="null"/> for all.</summary>
    public IReadOnlyList<string>? Measured { get; init; }

    /// <summary>
    /// The value that a cell's name leaves out. Every cell had it before the axis existed, so stored results keep the names of their cells;
    /// <see langword="null"/> if names always include the value.
    /// </summary>
    public string? Implied { get; init; }

    /// <summary>Whether a cell has the value that names leave out.</summary>
    public bool HasImplied(Cell cell) => string.Equals(ValueOf(cell), Implied, StringComparison.Ordinal);

    /// <summary>A value as the option of this axis has it.</summary>
    public Func<string, string> Typed { get; init; } = value => value;

    /// <summary>What was typed, as the option of this axis has it: some values can also be typed in another way.</summary>
    public Func<string, string> Read { get; init; } = typed => typed;

    /// <summary>
    /// Whether only measured rounds differ on it. Experiments with faults have conditions of their own, and a handler unless a scenario is named.
    /// </summary>
    public bool IsOfRounds { get; init; }

    /// <summary>Whether a cell can be what its value on this axis says, or why not.</summary>
    public required Func<Cell, Support> Rule { get; init; }

    /// <summary>All values, in the order of the cells.</summary>
    public IReadOnlyList<string> Values => field ??= [.. Cell.All.Select(ValueOf).Distinct(StringComparer.Ordinal)];

    /// <summary>Whether the axis has more than one value. Otherwise it is not shown.</summary>
    public bool IsShown => Values.Count > 1;
}
