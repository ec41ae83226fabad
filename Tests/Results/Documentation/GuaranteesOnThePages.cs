using Kit.Runner.Results.Faults;

namespace Kit.Tests.Results.Documentation;

/// <summary>The committed experiments, what is written of them, and what the pages show.</summary>
public sealed class GuaranteesOnThePages
{
    [TestCase("guarantees")]
    [TestCase("kills")]
    public void Every_promise_was_kept(string name)
    {
        var results = FolderOf(name).LoadResults();

        Assert.That(results, Is.Not.Empty);
        foreach (var result in results)
            Assert.That(result.IsGood, Is.True, $"{result.Name}: {result.Verdict} {result.Because}");
    }

    [TestCase("guarantees")]
    [TestCase("kills")]
    public void The_reports_are_those_that_the_results_give(string name)
    {
        var folder = FolderOf(name);
        var report = new GuaranteeReport(folder.LoadDocument(), folder.LoadResults());
        using var tables = new StringWriter { NewLine = "\n" };
        using var csv = new StringWriter { NewLine = "\n" };
        report.WriteMarkdown(tables);
        report.WriteCsv(csv);

        Approval.VerifyFile(folder.TablesPath, tables.ToString());
        Approval.VerifyFile(folder.CsvPath, csv.ToString());
    }

    /// <summary>Each cell's row, once, and no row of a cell that was not tried.</summary>
    [Test]
    public void The_page_has_the_signature_of_the_storms() =>
        Assert.That(
            new MarkdownPage("docs/guarantees.md").LinesOf("storms").Where(line => line.StartsWith('|')).Skip(2),
            Is.EqualTo(SignaturesIn(FolderOf("guarantees").TablesPath)));

    [Test]
    public void The_page_has_what_came_of_the_kills()
    {
        var folder = FolderOf("kills");

        Assert.That(SignaturesIn(folder.TablesPath).Single(), Does.EndWith(" 20,020 | 0 | 0 | 0 | 0 | 0 | 0 | 0 | 0 | 20,020 |"));
        Assert.That(folder.LoadResults().Single().Storm!.Kills, Is.EqualTo(1_000));
        Assert.That(
            new MarkdownPage("docs/two-phase-commit.md").LinesOf("kills").Single(),
            Does.StartWith("[1,000 kills](../results/kills/guarantees.md), 20,020 messages, 0 lost, 0 doubled, 0 left prepared, so less than 0.0015"));
    }

    [Test]
    public void The_speeds_are_those_of_the_run_that_is_named()
    {
        var speeds = FolderOf("guarantees").LoadDocument().Speeds!;
        var run = SpeedSource.Read(Path.Combine(RepositoryFiles.Root, speeds.Folder));

        Assert.That(speeds.PerSecond, Is.EqualTo(run.PerSecond));
        Assert.That(speeds.Commit, Is.EqualTo(run.Commit));
    }

    private static FaultFolder FolderOf(string name) => new(Path.Combine(RepositoryFiles.Root, "results", name));

    /// <summary>The rows of the first table that has them, up to its end.</summary>
    private static List<string> SignaturesIn(string markdown) =>
        [.. File.ReadAllLines(markdown)
            .SkipWhile(line => !line.StartsWith("| framework | transport | mode | msg/s |", StringComparison.Ordinal))
            .Skip(2)
            .TakeWhile(line => line.StartsWith('|'))];
}
