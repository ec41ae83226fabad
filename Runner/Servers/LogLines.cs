namespace Kit.Runner.Servers;

/// <summary>The lines of a log, or of a program's output.</summary>
public static class LogLines
{
    private const int LinesShown = 5;

    /// <summary>The last lines, as one line for a message.</summary>
    public static string EndOf(IEnumerable<string> lines) =>
        string.Join(" / ", lines.Select(line => line.Trim()).Where(line => line.Length > 0).TakeLast(LinesShown));

    /// <summary>The last lines of a file that a server may still be writing.</summary>
    public static string EndOfFile(string file) => File.Exists(file) ? EndOf(File.ReadLines(file)) : "(empty)";
}
