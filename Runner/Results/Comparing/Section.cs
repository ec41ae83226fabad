namespace Kit.Runner.Results.Comparing;

/// <summary>A part of a report: lines, or a table with its legend.</summary>
internal sealed record Section(
    string Title, IReadOnlyList<string> Lines, IReadOnlyList<string> Headers, IReadOnlyList<IReadOnlyList<string>> Rows, string Legend)
{
    public static Section Of(string title, IReadOnlyList<string> lines) => new(title, lines, [], [], "");

    public static Section Table(string title, IReadOnlyList<string> headers, IReadOnlyList<IReadOnlyList<string>> rows, string legend) =>
        new(title, [], headers, rows, legend);

    /// <summary>True if its cells are texts that are too long for the columns of a terminal.</summary>
    public bool IsWordy { get; init; }

    public bool IsEmpty => Lines.Count == 0 && Rows.Count == 0 && Legend.Length == 0;
}
