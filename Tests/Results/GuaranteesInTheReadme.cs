using Kit.Runner.Faults.Results;

namespace Kit.Tests.Results;

/// <summary>The committed experiments, what is written of them, and what the README shows.</summary>
[TestFixture("guarantees")]
[TestFixture("kills")]
public sealed class GuaranteesInTheReadme(string name)
{
    private readonly FaultFolder folder = new(Path.Combine(ReferenceRunsInTheReadme.Root, "results", name));

    [Test]
    public void Every_promise_was_kept()
    {
        Assert.That(folder.LoadResults(), Is.Not.Empty);
        foreach (var result in folder.LoadResults())
            Assert.That(result.IsGood, Is.True, $"{result.Name}: {result.Verdict} {result.Because}");
    }

    [Test]
    public void The_reports_are_those_that_the_results_give()
    {
        var report = new GuaranteeReport(folder.LoadDocument(), folder.LoadResults());
        using var tables = new StringWriter { NewLine = "\n" };
        using var csv = new StringWriter { NewLine = "\n" };
        report.WriteMarkdown(tables);
        report.WriteCsv(csv);

        Approval.VerifyFile(folder.TablesPath, tables.ToString());
        Approval.VerifyFile(folder.CsvPath, csv.ToString());
    }

    /// <summary>Each cell's row, once, and no row of a cell that was not tried; of the kills one sentence.</summary>
    [Test]
    public void The_readme_has_what_came_of_the_storms()
    {
        var readme = Path.Combine(ReferenceRunsInTheReadme.Root, "README.md");
        var found = SignaturesIn(folder.TablesPath);

        if (name == "guarantees")
        {
            Assert.That(SignaturesIn(readme), Is.EqualTo(found));
            return;
        }

        var kills = folder.LoadResults().Single();
        Assert.That(found.Single(), Does.EndWith(" 20,020 | 0 | 0 | 0 | 0 | 0 | 0 | 0 | 0 | 20,020 |"));
        Assert.That(kills.Storm!.Kills, Is.EqualTo(1_000));
        Assert.That(File.ReadAllText(readme), Does.Contain("[1,000 kills](results/kills/guarantees.md), 20,020 messages, 0 lost, 0 doubled, 0 left prepared, so less than 0.0015"));
    }

    [Test]
    public void Its_speeds_are_those_of_the_run_that_it_names()
    {
        if (folder.LoadDocument().Speeds is not { } speeds)
            return;

        var run = SpeedSource.Read(Path.Combine(ReferenceRunsInTheReadme.Root, speeds.Folder));
        Assert.That(speeds.PerSecond, Is.EqualTo(run.PerSecond));
        Assert.That(speeds.Commit, Is.EqualTo(run.Commit));
    }

    /// <summary>The rows of the first table that has them, up to its end.</summary>
    private static List<string> SignaturesIn(string markdown) =>
        [.. File.ReadAllLines(markdown).SkipWhile(line => !line.StartsWith("| framework | transport | mode | msg/s |", StringComparison.Ordinal)).Skip(2).TakeWhile(line => line.StartsWith('|'))];
}
