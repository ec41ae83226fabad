using Kit.Runner.Results;

namespace Kit.Tests.Results;

public sealed class ResultsExplained
{
    private static readonly string Readme = File.ReadAllText(Path.Combine(RepositoryFiles.Root, "results", "README.md"));

    [Test]
    public void Every_column_of_the_csv_is_explained() =>
        Assert.That(
            InventedRun.Cell("shared").Axes.Concat(RoundsCsv.Columns).Where(column => !Readme.Contains($"`{column}`", StringComparison.Ordinal)), Is.Empty);

    [Test]
    public void Every_column_of_the_tables_is_explained()
    {
        var columns = File.ReadLines(Path.Combine(RepositoryFiles.Root, "Tests", "Approved", "tables.md"))
            .Where(line =>
                line.StartsWith("| Run | Elapsed", StringComparison.Ordinal)
                || line.StartsWith("| Mode |", StringComparison.Ordinal)
                || line.StartsWith("| Cell |", StringComparison.Ordinal))
            .SelectMany(line => line.Split('|', StringSplitOptions.TrimEntries | StringSplitOptions.RemoveEmptyEntries))
            .Distinct(StringComparer.Ordinal);

        Assert.That(columns.Where(column => !Readme.Contains($"| {column} |", StringComparison.Ordinal)), Is.Empty);
    }

    [Test]
    public void Every_limit_is_the_code_s()
    {
        using (Assert.EnterMultipleScope())
        {
            Assert.That(Readme, Does.Contain($"took more than {Figures.Share(Noise.DefaultLimit)} of the machine's CPU"));
            Assert.That(
                Readme,
                Does.Contain($"**With {Comparison.EnoughRounds} rounds or more on both sides.**").And.Contain($"*n < {Comparison.EnoughRounds}*"));
            Assert.That(
                Readme,
                Does.Contain($"has {0.4 * SvgSparkline.MostBins} to {SvgSparkline.MostBins} of them " +
                    $"({0.4 * BlockSparkline.MostBins} to {BlockSparkline.MostBins} on the terminal)"));
        }
    }
}
