using Kit.Modes;

namespace Kit.Endpoints.Cells;

/// <summary>
/// One dimension of the matrix: what it is called, which value a cell has on it, which values are measured where none is named, and which cells
/// it rules out. The command line, documents, tables and comparisons read the list of <see cref="Cell.Axes"/>. Reports know the first three by name,
/// because they know what a framework, a transport and a mode mean.
/// </summary>
/// <param name="Name">As options and documents name it: <c>transport</c>.</param>
/// <param name="Plural">In a sentence, for several of them.</param>
/// <param name="ValueOf">The cell's value on it, as options and documents name it.</param>
public sealed record Axis(string Name, string Plural, Func<Cell, string> ValueOf)
{
    /// <summary>The values that are measured where none is named; <see langword="null"/>: all.</summary>
    public IReadOnlyList<string>? Measured { get; init; }

    /// <summary>
    /// The value that a cell's name leaves out: what every cell was before the axis existed, so that stored results keep their cells;
    /// <see langword="null"/>: none, every name says it.
    /// </summary>
    public string? Implied { get; init; }

    /// <summary>Whether only measured rounds differ on it. Experiments with faults have a handler and conditions of their own.</summary>
    public bool IsOfRounds { get; init; }

    /// <summary>Whether a cell can be what its value on this axis says, or why not.</summary>
    public required Func<Cell, Support> Rule { get; init; }

    /// <summary>Every value, in the order of the cells.</summary>
    public IReadOnlyList<string> Values => field ??= [.. Cell.All.Select(ValueOf).Distinct(StringComparer.Ordinal)];

    /// <summary>Whether there is a choice. An axis with one value is not shown.</summary>
    public bool IsShown => Values.Count > 1;
}
