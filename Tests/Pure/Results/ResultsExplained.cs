using System.Globalization;
using Kit.Guarantees;
using Kit.Runner.Results;
using Kit.Runner.Results.Faults;
using Kit.Runner.Results.Points;

namespace Kit.Tests.Results;

public sealed class ResultsExplained
{
    private static readonly string Readme = Page("results", "README.md");
    private static readonly string Measuring = Page("docs", "reference", "measuring.md");
    private static readonly string Explained = Readme + Measuring;
    private static readonly string Commands = Page("docs", "reference", "commands.md");
    private static readonly string Guarantees = Page("docs", "reference", "guarantees.md");

    [Test]
    public void Every_file_of_a_folder_is_explained() =>
        Assert.That(RunFolder.Files.Concat(FaultFolder.Files).Where(file => !Readme.Contains($"`{file}`", StringComparison.Ordinal)), Is.Empty);

    [Test]
    public void The_page_stays_a_page() => Assert.That(Readme, Has.Length.LessThan(7_000));

    [Test]
    public void Every_column_of_the_csv_is_explained() =>
        Assert.That(
            InventedRun.Cell("shared").Axes.Concat(RoundsCsv.Columns).Where(column => !Explained.Contains($"`{column}`", StringComparison.Ordinal)),
            Is.Empty);

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

        Assert.That(columns.Where(column => !Explained.Contains($"| {column} |", StringComparison.Ordinal)), Is.Empty);
    }

    [TestCase("Tests/Approved/guarantees.csv")]
    [TestCase("results/2026-11-27-447e8b9-rates/load.csv")]
    public void Every_column_of_the_guarantees_and_of_a_load_is_explained(string file)
    {
        var columns = File.ReadLines(Path.Combine(RepositoryFiles.Root, file)).First().Split(',');
        var axes = InventedRun.Cell("shared").Axes;
        var classes = Enum.GetValues<DeliveryClass>().Select(Words.ColumnOf);

        Assert.That(
            columns.Except(axes, StringComparer.Ordinal).Except(classes, StringComparer.Ordinal)
                .Where(column => !Commands.Contains($"`{column}`", StringComparison.Ordinal)),
            Is.Empty);
    }

    [Test]
    public void Every_class_and_every_verdict_is_explained()
    {
        using (Assert.EnterMultipleScope())
        {
            Assert.That(
                Enum.GetValues<DeliveryClass>().Select(Words.Of).Where(name => !Guarantees.Contains($"| `{name}` | ", StringComparison.Ordinal)), Is.Empty);
            Assert.That(
                Enum.GetValues<FaultVerdict>().Select(Words.Of).Where(name => !Guarantees.Contains($"| {name} | ", StringComparison.Ordinal)), Is.Empty);
        }
    }

    [Test]
    public void Every_limit_is_the_code_s()
    {
        using (Assert.EnterMultipleScope())
        {
            Assert.That(
                Measuring,
                Does.Contain($"took more than {Figures.Share(Noise.DefaultLimit)} of the machine's CPU")
                    .And.Contain($"took more than {Noise.FlushLimit.ToString(CultureInfo.InvariantCulture)} times as long"));
            Assert.That(Measuring, Does.Contain($"differs from 1 by more than {Figures.Share(Margin.Default.Share)},"));
            Assert.That(
                Readme,
                Does.Contain($"**With {Comparison.EnoughRounds} rounds or more on both sides.**").And.Contain($"*n < {Comparison.EnoughRounds}*"));
        }
    }

    private static string Page(params string[] path) => File.ReadAllText(Path.Combine([RepositoryFiles.Root, .. path])).ReplaceLineEndings("\n");
}
