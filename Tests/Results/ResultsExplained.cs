using System.Runtime.CompilerServices;
using Kit.Runner.Results;

namespace Kit.Tests.Results;

public sealed class ResultsExplained
{
    private static readonly string Readme = File.ReadAllText(Path.Combine(RepositoryFolder(), "results", "README.md"));

    [Test]
    public void Every_column_of_the_csv_is_explained() =>
        Assert.That(RoundsCsv.Columns.Where(column => !Readme.Contains($"`{column}`", StringComparison.Ordinal)), Is.Empty);

    [Test]
    public void Every_column_of_the_tables_is_explained()
    {
        var columns = File.ReadLines(Path.Combine(RepositoryFolder(), "Tests", "Approved", "tables.md"))
            .Where(line => line.StartsWith("| Run | Elapsed", StringComparison.Ordinal) || line.StartsWith("| Mode |", StringComparison.Ordinal) || line.StartsWith("| Cell |", StringComparison.Ordinal))
            .SelectMany(line => line.Split('|', StringSplitOptions.TrimEntries | StringSplitOptions.RemoveEmptyEntries))
            .Distinct(StringComparer.Ordinal);

        Assert.That(columns.Where(column => !Readme.Contains($"| {column} |", StringComparison.Ordinal)), Is.Empty);
    }

    private static string RepositoryFolder([CallerFilePath] string thisFile = "") =>
        Path.GetFullPath(Path.Combine(Path.GetDirectoryName(thisFile)!, "..", ".."));
}
