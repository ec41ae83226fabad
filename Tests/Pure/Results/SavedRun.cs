using System.Xml.Linq;
using Kit.Guarantees;
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
        var exact = InventedRun.Rounds[0] with { OffsetsMilliseconds = [0.00049, 1.23456789, 1_500.00051], Outcome = RoundOutcome.Invalid(["invented"]) };
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
    public void A_round_that_counts_and_contradicts_itself_is_damaged()
    {
        var round = InventedRun.Rounds[0];
        AssertDamaged(round with { Accounts = new Dictionary<DeliveryClass, int>() }, "0 of its 400 messages were handled once");
        AssertDamaged(round with { HandlerEntries = 399 }, "handlers were entered 399 times for 400 messages");
        AssertDamaged(round with { OffsetsMilliseconds = [.. round.OffsetsMilliseconds.Skip(1)] }, "it has 399 commits of 400 messages");
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

        XNamespace svg = "http://www.w3.org/2000/svg";
        var graphs = XDocument.Load(Path.Combine(folder.Location, "graphs.svg"))
            .Descendants(svg + "view").Select(view => view.Attribute("id")!.Value).ToList();
        var tables = File.ReadAllText(folder.ReportPath);
        using (Assert.EnterMultipleScope())
        {
            Assert.That(graphs, Has.Count.EqualTo(InventedRun.Rounds.Count(round => round.OffsetsMilliseconds.Count > 0)).And.Unique);
            Assert.That(graphs, Has.All.Matches<string>(graph => tables.Contains($"<img src=\"graphs.svg#{graph}\" width", StringComparison.Ordinal)));
            Assert.That(Directory.GetFileSystemEntries(folder.Location).Select(Path.GetFileName), Is.EquivalentTo(RunFolder.Files));
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
            Assert.That(File.ReadAllText(folder.ReportPath), Does.Contain("| full-dtc | 0 of 5 | – | – | – | – |").And.Contain("There is nothing to draw."));
            Assert.That(terminal.ToString(), Does.Contain("stopped: no server"));
        }
    }

    [Test]
    public void One_round_is_found_among_the_others()
    {
        using var temporary = new TemporaryFolder();
        var folder = Saved(temporary);

        using (Assert.EnterMultipleScope())
        {
            Assert.That(folder.LoadRound(InventedRun.Cell("dtc-off"), 3).Noise.OtherCpuShare.Value, Is.EqualTo(0.134));
            Assert.That(
                () => folder.LoadRound(InventedRun.Cell("shared"), 3),
                Throws.TypeOf<KitException>().With.Message.Contains("rounds.jsonl has no line for bare/postgresql/shared/ado, round 3"));
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
            .ToDictionary(path => Path.GetRelativePath(folder.Location, path), path => Convert.ToHexString(File.ReadAllBytes(path)), StringComparer.Ordinal),
        StringComparer.Ordinal);

    private static void AssertDamaged(RoundDocument round, string because)
    {
        using var temporary = new TemporaryFolder();
        var folder = RunFolder.Create(temporary.Below("run"), InventedRun.Document with { Ending = RunEnding.Running });
        folder.Save(round);

        Assert.That(folder.Load, Throws.TypeOf<KitException>().With.Message.Contains(because));
    }
}
