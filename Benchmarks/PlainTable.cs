namespace Kit.Benchmarks;

/// <summary>A table of figures as plain text, columns aligned to the right.</summary>
internal sealed class PlainTable(string title, params IReadOnlyList<string> headers)
{
    private const string Gap = "   ";

    private readonly List<IReadOnlyList<string>> rows = [];

    public void Add(params IReadOnlyList<string> cells) => rows.Add(cells);

    public void Write(TextWriter output)
    {
        var widths = headers.Select((header, column) => rows.Select(row => row[column].Length).Append(header.Length).Max()).ToList();
        output.WriteLine();
        output.WriteLine(title);
        foreach (var row in rows.Prepend(headers))
            output.WriteLine(string.Join(Gap, row.Select((cell, column) => cell.PadLeft(widths[column]))));
    }
}
