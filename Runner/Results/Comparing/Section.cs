namespace Kit.Runner.Results.Comparing;

/// <summary>A part of a report: lines, or a table with its legend.</summary>
internal sealed record Section(string Title, IReadOnlyList<string> Lines, Table Table)
{
    public static Section Of(string title, IReadOnlyList<string> lines) => new(title, lines, new Table([], []));

    /// <param name="isWordy">True if its cells are texts that are too long for the columns of a terminal.</param>
    public static Section Of(Table table, bool isWordy = false) => new(table.Title, [], table) { IsWordy = isWordy };

    public bool IsWordy { get; private init; }

    public bool IsEmpty => Lines.Count == 0 && Table is { Rows.Count: 0, Legend.Length: 0 };
}
