using System.Text.RegularExpressions;
using Kit.Runner.Results;

namespace Kit.Benchmarks.Seeding;

/// <summary>psql's <c>\copy</c> between the widgets' table and a file.</summary>
internal sealed partial class Psql(ClientProgram program)
{
    public Task ExportAsync(string connection, string file, string format, CancellationToken cancellationToken) =>
        CopyAsync(connection, "to", file, format, cancellationToken);

    public Task<TimeSpan> ImportAsync(string connection, string file, string format, CancellationToken cancellationToken) =>
        CopyAsync(connection, "from", file, format, cancellationToken);

    /// <summary>The time that psql itself measured, without starting and connecting.</summary>
    /// <exception cref="KitException">The text contains no time.</exception>
    public static TimeSpan TimeIn(string text)
    {
        var line = TimingLine().Match(text);
        return line.Success
            ? TimeSpan.FromMilliseconds(double.Parse(line.Groups["time"].ValueSpan))
            : throw new KitException($"Expected a line 'Time: … ms' from psql, found: {text.Trim()}", "Use the psql of PostgreSQL 13 or newer.");
    }

    private async Task<TimeSpan> CopyAsync(string connection, string direction, string file, string format, CancellationToken cancellationToken) =>
        TimeIn(await program.RunAsync(
            connection,
            [
                "--no-psqlrc", "--set=ON_ERROR_STOP=1", "--command=\\timing on",
                $"--command=\\copy widget {direction} '{file.Replace("'", "''", StringComparison.Ordinal)}' with (format {format})",
            ],
            cancellationToken));

    [GeneratedRegex(@"^Time: (?<time>[\d.]+) ms", RegexOptions.ExplicitCapture | RegexOptions.Multiline, matchTimeoutMilliseconds: 1000)]
    private static partial Regex TimingLine();
}
