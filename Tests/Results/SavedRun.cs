using Kit.Runner.Results;

namespace Kit.Tests.Results;

public sealed class SavedRun
{
    [Test]
    public void Run_and_rounds_come_back_as_they_were()
    {
        using var temporary = new TemporaryFolder();
        var folder = Saved(temporary);

        var loaded = RunFolder.Open(folder.Location).Load();

        // Written again, what was loaded gives the same files: nothing is lost on the way.
        using var second = new TemporaryFolder();
        var copy = RunFolder.Create(second.Below("run"), loaded.Document);
        foreach (var round in loaded.Rounds)
            copy.Save(round);
        Assert.That(FilesOf(copy), Is.EqualTo(FilesOf(folder)));
        Assert.That(loaded.Rounds, Has.Count.EqualTo(InventedRun.Rounds.Count));
    }

    [Test]
    public void Throughput_is_the_same_after_loading()
    {
        using var temporary = new TemporaryFolder();
        var exact = InventedRun.Rounds[0] with { OffsetsMilliseconds = [0.00049, 1.23456789, 1_500.00051] };
        var folder = RunFolder.Create(temporary.Below("run"), InventedRun.Document with { Ending = RunEnding.Running });
        folder.Save(exact);

        var loaded = folder.Load().Rounds.Single();

        using (Assert.EnterMultipleScope())
        {
            Assert.That(loaded.Throughput.ElapsedSeconds, Is.EqualTo(exact.Throughput.ElapsedSeconds));
            Assert.That(loaded.Throughput.MaximumInOneSecond, Is.EqualTo(exact.Throughput.MaximumInOneSecond));
        }
    }

    [Test]
    public void Run_saved_again_at_its_end_replaces_the_first()
    {
        using var temporary = new TemporaryFolder();
        var folder = RunFolder.Create(temporary.Below("run"), InventedRun.Document with { Ending = RunEnding.Running });

        folder.Save(InventedRun.Document with { Ending = RunEnding.Stopped("Ctrl+C") });

        Assert.That(folder.Load().Document.Ending.ToString(), Is.EqualTo("stopped: Ctrl+C"));
    }

    [Test]
    public void Stopped_run_loads_with_the_rounds_it_has()
    {
        using var temporary = new TemporaryFolder();
        var folder = RunFolder.Create(temporary.Below("run"), InventedRun.Document with { Ending = RunEnding.Stopped("Ctrl+C") });
        folder.Save(InventedRun.Rounds[0]);

        var run = folder.Load();

        using (Assert.EnterMultipleScope())
        {
            Assert.That(run.Rounds, Has.Count.EqualTo(1));
            Assert.That(run.Cells, Has.Count.EqualTo(4), "a planned cell without a round is a row, not a gap");
        }
    }

    [Test]
    public void Reports_stand_beside_the_rounds_and_every_graph_that_is_named_exists()
    {
        using var temporary = new TemporaryFolder();
        var folder = Saved(temporary);

        folder.WriteReports(folder.Load());

        var graphs = Directory.GetFiles(Path.Combine(folder.Location, "graphs")).Select(Path.GetFileName).ToList();
        var tables = File.ReadAllText(folder.TablesPath);
        using (Assert.EnterMultipleScope())
        {
            Assert.That(graphs, Has.Count.EqualTo(InventedRun.Rounds.Count(round => round.OffsetsMilliseconds.Count > 0)));
            Assert.That(graphs, Has.All.Matches<string>(graph => tables.Contains($"(graphs/{graph})", StringComparison.Ordinal)));
            Assert.That(File.Exists(Path.Combine(folder.Location, "rounds.csv")), Is.True);
            Assert.That(Directory.GetFiles(folder.Location, "*.partial", SearchOption.AllDirectories), Is.Empty);
        }
    }

    [Test]
    public void Reports_of_a_run_without_rounds_are_written()
    {
        using var temporary = new TemporaryFolder();
        var folder = RunFolder.Create(temporary.Below("run"), InventedRun.Document with { Ending = RunEnding.Stopped("no server"), Commit = null });
        using var terminal = new StringWriter();

        folder.WriteReports(folder.Load());
        TerminalSummary.Write(folder.Load(), terminal, width: 80);

        using (Assert.EnterMultipleScope())
        {
            Assert.That(File.ReadAllText(folder.TablesPath), Does.Contain("| full-dtc | 0 of 5 | – | – | – | – |").And.Contain("There is nothing to draw."));
            Assert.That(terminal.ToString(), Does.Contain("stopped: no server"));
        }
    }

    private static RunFolder Saved(TemporaryFolder temporary)
    {
        var folder = RunFolder.Create(temporary.Below("results", "run"), InventedRun.Document);
        foreach (var round in InventedRun.Rounds)
            folder.Save(round);
        return folder;
    }

    private static SortedDictionary<string, string> FilesOf(RunFolder folder) => new(
        Directory.GetFiles(folder.Location, "*", SearchOption.AllDirectories)
            .ToDictionary(path => Path.GetRelativePath(folder.Location, path), File.ReadAllText, StringComparer.Ordinal),
        StringComparer.Ordinal);
}
