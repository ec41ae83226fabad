using Kit.Guarantees;
using Kit.Runner.Results;

namespace Kit.Tests.Results;

/// <summary>The README's figures are those of the committed runs, and the committed reports those of their rounds.</summary>
public sealed class ReferenceRunsInTheReadme
{
    [TestCase("reference")]
    [TestCase("two-phase")]
    public void Each_row_of_the_readme_stands_in_the_run(string name)
    {
        var readme = File.ReadAllLines(Path.Combine(RepositoryFiles.Root, "README.md"));
        var run = RunFolder.Open(Path.Combine(RepositoryFiles.Root, "results", name)).Load();

        foreach (var row in SummaryTable.Rows(run, SummaryTable.SpeedOf(run)))
        {
            var shown = readme.Where(line => line.StartsWith($"| {row[0]} |", StringComparison.Ordinal)).ToList();
            Assert.That(shown, Has.Count.EqualTo(1), row[0]);
            Assert.That(shown[0], Does.StartWith($"| {string.Join(" | ", row.SkipLast(2))} |"));
        }
    }

    [TestCase("reference")]
    [TestCase("two-phase")]
    [TestCase("all")]
    public void Every_round_is_valid_and_every_message_is_accounted_for(string name)
    {
        var run = RunFolder.Open(Path.Combine(RepositoryFiles.Root, "results", name)).Load();

        Assert.Multiple(() =>
        {
            foreach (var round in run.Rounds)
            {
                Assert.That(round.Outcome.IsValid(), Is.True, round.FileName);
                Assert.That(round.OffsetsMilliseconds, Has.Count.EqualTo(round.Messages), round.FileName);
                Assert.That(round.Accounts[DeliveryClass.Once], Is.EqualTo(round.Messages), round.FileName);
            }
        });
    }

    [TestCase("reference")]
    [TestCase("two-phase")]
    [TestCase("all")]
    public void The_tables_are_those_that_its_rounds_give(string name)
    {
        var folder = RunFolder.Open(Path.Combine(RepositoryFiles.Root, "results", name));
        using var tables = new StringWriter { NewLine = "\n" };
        MarkdownTables.Write(folder.Load(), "graphs", tables);

        Assert.That(File.ReadAllText(folder.TablesPath).ReplaceLineEndings("\n"), Is.EqualTo(tables.ToString()));
    }
}
