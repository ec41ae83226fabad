using Kit.Guarantees;
using Kit.Runner.Results;

namespace Kit.Tests.Results.Documentation;

/// <summary>The figures of the pages are those of the committed runs, and the committed reports those of their rounds.</summary>
public sealed class RunsOnThePages
{
    /// <summary>Each row of the run, once, and each figure in its column.</summary>
    [TestCase("docs/choosing-a-mode.md", "speeds", "reference")]
    [TestCase("docs/two-phase-commit.md", "two-phase", "two-phase")]
    public void A_table_of_rates_is_that_of_the_run(string page, string block, string name)
    {
        var table = new MarkdownPage(page).TableOf(block);
        var run = RunFolder.Open(Path.Combine(RepositoryFiles.Root, "results", name)).Load();
        var columns = table[0].Skip(1).Select(header => SummaryTable.SpeedOf(run).Concat(SummaryTable.Costs).Single(column => column.Header == header));

        Assert.That(table.Skip(1), Is.EqualTo(SummaryTable.Rows(run, [.. columns])));
    }

    [Test]
    public void The_sequences_are_what_the_probe_saw()
    {
        var seen = File.ReadAllLines(Path.Combine(RepositoryFiles.Root, "results", "all", "tables.md"));

        foreach (var row in new MarkdownPage("docs/modes.md").TableOf("sequences"))
            Assert.That(seen.Count(line => line.StartsWith($"| {string.Join(" | ", row)} |", StringComparison.Ordinal)), Is.EqualTo(1), row[0]);
    }

    [Test]
    public void The_finding_about_shared_has_the_figures_of_the_run()
    {
        var run = RunFolder.Open(Path.Combine(RepositoryFiles.Root, "results", "all")).Load();
        var text = string.Join('\n', new MarkdownPage("docs/findings.md").LinesOf("surprise-finding"));

        foreach (var mode in new[] { "shared", "transactions-off" })
        {
            var rate = run.Cells.Single(cell => cell.Cell is { Framework: "bare", Transport: "postgresql" } && cell.Cell.Mode == mode).Rate!;
            Assert.That(text, Does.Contain($"({Figures.Measured(rate.Low)} to {Figures.Measured(rate.High)})").And.Contain(Figures.Measured(rate.Mean)), mode);
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
                Assert.That(round.Outcome.IsValid(), Is.True, round.Name);
                Assert.That(round.OffsetsMilliseconds, Has.Count.EqualTo(round.Messages), round.Name);
                Assert.That(round.Accounts[DeliveryClass.Once], Is.EqualTo(round.Messages), round.Name);
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
        MarkdownTables.Write(folder.Load(), "graphs.svg", tables);

        Assert.That(File.ReadAllText(folder.TablesPath).ReplaceLineEndings("\n"), Is.EqualTo(tables.ToString()));
    }
}
