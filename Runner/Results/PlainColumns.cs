namespace Kit.Runner.Results;

/// <summary>Rows as aligned lines under their headers, the last column in full: for terminals, files and pipes alike.</summary>
public static class PlainColumns
{
    private const string Gap = "  ";

    /// <summary>Writes the rows and an empty line; writes nothing if there are no rows.</summary>
    public static void Write(IReadOnlyList<string> headers, IReadOnlyList<IReadOnlyList<string>> rows, TextWriter output)
    {
        if (rows.Count == 0)
            return;

        var lines = rows.Prepend(headers).ToList();
        var widths = headers.Select((_, column) => lines.Max(line => line[column].Length)).ToList();
        foreach (var line in lines)
            output.WriteLine(string.Join(Gap, line.Select((cell, column) => cell.PadRight(widths[column]))).TrimEnd());

        output.WriteLine();
    }
}
