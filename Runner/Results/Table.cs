using Spectre.Console;

namespace Kit.Runner.Results;

/// <summary>The head of a column.</summary>
/// <param name="IsFigure">True if its texts are figures, which are right-aligned; names and graphs are left-aligned.</param>
internal record Column(string Header, bool IsFigure = true)
{
    /// <summary>True if it is right-aligned on a terminal, and its texts wrap between words there.</summary>
    public bool Wraps { get; init; } = IsFigure;

    /// <summary>True if its header and texts are Markdown.</summary>
    public bool IsMarkdown { get; init; }

    public static Column OfMarkdown(string header) => new(header, IsFigure: false) { IsMarkdown = true };
}

/// <summary>A column with its text for a row.</summary>
internal sealed record Column<T>(string Header, Func<T, string> Text, bool IsFigure = true) : Column(Header, IsFigure);

/// <summary>A table of texts, for every report.</summary>
internal sealed record Table(IReadOnlyList<Column> Columns, IReadOnlyList<IReadOnlyList<string>> Rows)
{
    // The padding of a column, and the line of the border before it; the line after the last.
    private const int Between = 3;
    private const int End = 1;

    private static readonly IReadOnlyList<string> Marks = ["|", "*", "<", "`"];

    public string Title { get; init; } = "";

    /// <summary>The meaning of its columns; empty where they need none.</summary>
    public string Legend { get; init; } = "";

    /// <summary>Its lines in Markdown, without its title and legend.</summary>
    public IEnumerable<string> Lines =>
    [
        LineOf(Columns.Select(column => column.Header)),
        $"|{string.Concat(Columns.Select(column => column.IsFigure ? " ---: |" : " --- |"))}",
        .. Rows.Select(LineOf),
    ];

    public static Table Of<T>(IReadOnlyList<Column<T>> columns, IEnumerable<T> rows) =>
        new(columns, [.. rows.Select(row => (IReadOnlyList<string>)[.. columns.Select(column => column.Text(row))])]);

    /// <summary>A text whose characters have no meaning in Markdown: that of a server or a failed process may have any.</summary>
    public static string Escaped(string text) =>
        Marks.Aggregate(text.ReplaceLineEndings(" "), (escaped, mark) => escaped.Replace(mark, "\\" + mark, StringComparison.Ordinal));

    /// <summary>Writes it as a section of a report in Markdown.</summary>
    public void WriteMarkdown(TextWriter output)
    {
        output.WriteLine($"\n## {Title}\n");
        WriteLines(output);
        if (Legend.Length > 0)
            output.WriteLine($"\n{Legend}");
    }

    public void WriteLines(TextWriter output)
    {
        foreach (var line in Lines)
            output.WriteLine(line);
    }

    /// <summary>Writes it with its title, and without its legend.</summary>
    public void WriteTerminal(IAnsiConsole console)
    {
        var columns = Columns.Select((column, index) =>
        {
            var texts = Rows.Select(row => row[index]).Prepend(column.Header).ToList();
            var whole = texts.Max(text => text.Length);
            return (column.Header, column.Wraps, Whole: whole, Least: column.Wraps ? texts.SelectMany(UnitsOf).Max(unit => unit.Length) : whole);
        }).ToList();
        var width = console.Profile.Width;
        var least = columns.Sum(column => column.Least + Between) + End;
        var room = Math.Max(0, width - least);
        var table = new Spectre.Console.Table { Border = TableBorder.Simple, Title = new TableTitle(Markup.Escape(Title)) };
        foreach (var (index, column) in columns.Index())
        {
            var more = Math.Min(column.Whole - column.Least, room / (columns.Count - index));
            room -= more;
            table.AddColumn(new TableColumn(new Text(column.Header))
            {
                Alignment = column.Wraps ? Justify.Right : Justify.Left,
                NoWrap = !column.Wraps,
                Width = column.Least + more,
            });
        }

        foreach (var row in Rows)
            table.AddRow(row.Select(cell => new Text(cell)));
        // Spectre would break words to make a table fit.
        console.Profile.Width = Math.Max(width, least);
        console.Write(table);
        console.Profile.Width = width;
    }

    // A limit stays with its sign: < 0.150.
    private static string[] UnitsOf(string text) => text.Replace("< ", "<_", StringComparison.Ordinal).Split(' ');

    private string LineOf(IEnumerable<string> texts) =>
        $"| {string.Join(" | ", texts.Zip(Columns, (text, column) => column.IsMarkdown ? text : Escaped(text)))} |";
}
