namespace Kit.Runner.Results;

/// <summary>A file that is computed from the other files of its folder.</summary>
public sealed record ReportFile(string Name, Action<TextWriter> Write)
{
    /// <summary>Its content.</summary>
    public string Text
    {
        get
        {
            using var text = new StringWriter { NewLine = "\n" };
            Write(text);
            return text.ToString();
        }
    }

    /// <summary>The names of the reports that a folder lacks, or has in another state than they would be written now.</summary>
    /// <exception cref="KitException">One may not be read.</exception>
    public static IReadOnlyList<string> Differing(string folder, IEnumerable<ReportFile> reports) =>
        [.. reports.Where(report => !report.IsIn(folder)).Select(report => report.Name)];

    /// <exception cref="KitException">One cannot be written.</exception>
    public static void WriteAll(IEnumerable<ReportFile> reports, string folder)
    {
        foreach (var report in reports)
            report.WriteTo(folder);
    }

    /// <exception cref="KitException">It cannot be written.</exception>
    public void WriteTo(string folder) => WholeFile.Write(Path.Combine(folder, Name), Write);

    /// <summary>True if the folder contains it as it would be written now.</summary>
    /// <exception cref="KitException">It may not be read.</exception>
    public bool IsIn(string folder)
    {
        var path = Path.Combine(folder, Name);
        return File.Exists(path) && string.Equals(StoredFile.Text(path).ReplaceLineEndings("\n"), Text, StringComparison.Ordinal);
    }
}
