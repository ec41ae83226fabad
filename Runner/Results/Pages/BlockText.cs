namespace Kit.Runner.Results.Pages;

/// <summary>The new content of a block.</summary>
internal sealed record BlockText(params IReadOnlyList<string> Lines)
{
    /// <summary>The files that the lines show.</summary>
    public IReadOnlyList<(string Path, string Text)> Pictures { get; init; } = [];

    /// <summary>Notes about lines that were left as they are, because this build cannot tell what they must be.</summary>
    public IReadOnlyList<string> Kept { get; init; } = [];

    /// <summary>A table, and its source below it.</summary>
    public static BlockText Of(Table table, params IEnumerable<string> below) => new([.. table.Lines, "", .. below]);

    /// <summary>A table of Markdown, and its source below it.</summary>
    public static BlockText Of<T>(IEnumerable<Column<T>> columns, IEnumerable<T> rows, params IEnumerable<string> below) =>
        Of(Table.Of([.. columns.Select(column => column with { IsMarkdown = true })], rows), below);
}
