using System.Text.RegularExpressions;
using Kit.Runner.Results;
using Kit.Runner.Results.Faults;
using Kit.Runner.Results.Points;

namespace Kit.Tests.Results.Faults;

/// <summary>The results of experiments as they lie in their folder.</summary>
public sealed class FolderOfExperiments
{
    private static readonly GuaranteeReport Report = new(InventedExperiments.Document, InventedExperiments.Results);

    private TemporaryFolder temporary = null!;
    private FaultFolder folder = null!;

    private string LinesPath => temporary.Below("run", "faults.jsonl");

    [SetUp]
    public void MakeFolder()
    {
        temporary = new TemporaryFolder();
        folder = new FaultFolder(temporary.Below("run"));
    }

    [TearDown]
    public void RemoveFolder() => temporary.Dispose();

    [Test]
    public void Is_made_again_from_the_folder()
    {
        folder.Save(InventedExperiments.Document);
        foreach (var result in InventedExperiments.Results)
            folder.Save(result);

        var read = new GuaranteeReport(folder.LoadDocument(), folder.LoadResults());

        Assert.That(Text(read.WriteMarkdown), Is.EqualTo(Text(Report.WriteMarkdown)));
    }

    [Test]
    public void Lies_in_a_file_for_the_run_and_one_for_the_results()
    {
        Assert.That(folder.Exists, Is.False);

        folder.Save(InventedExperiments.Document);
        foreach (var result in InventedExperiments.Results)
            folder.Save(result);

        using (Assert.EnterMultipleScope())
        {
            Assert.That(folder.Exists, Is.True);
            Assert.That(folder.Location, Is.EqualTo(temporary.Below("run")));
            Assert.That(
                Directory.GetFileSystemEntries(folder.Location).Select(Path.GetFileName), Is.EquivalentTo(["faults.json", "faults.jsonl"]));
            Assert.That(File.ReadLines(LinesPath).Count(), Is.EqualTo(InventedExperiments.Results.Count));
        }
    }

    /// <summary>As a process that died leaves it, or one that goes on.</summary>
    [Test]
    public void Says_how_many_experiments_were_not_made()
    {
        var made = InventedExperiments.Results;
        folder.Save(InventedExperiments.Document with { Outstanding = [made[0].Name, made[1].Name, made[2].Name] });
        folder.Save(made[1]);

        var report = folder.LoadReport();

        using (Assert.EnterMultipleScope())
        {
            Assert.That(report.Outstanding, Is.EqualTo(2));
            Assert.That(Text(report.WriteMarkdown), Does.Contain("- INCOMPLETE: at least 2 experiments are outstanding."));
            Assert.That(Text(output => report.WriteTerminal(output, 140)), Does.Contain("INCOMPLETE: at least 2 experiments are outstanding."));
            Assert.That(Text(Report.WriteMarkdown), Does.Not.Contain("INCOMPLETE"));
        }
    }

    [Test]
    public void Results_are_read_in_the_order_of_their_names()
    {
        foreach (var result in InventedExperiments.Results)
            folder.Save(result);

        Assert.That(folder.LoadResults().Select(result => result.Name), Is.Ordered.Using((IComparer<string>)StringComparer.Ordinal));
    }

    [Test]
    public void A_result_made_again_takes_the_place_of_the_first()
    {
        var result = InventedExperiments.Results[0];
        folder.Save(result);
        folder.Save(result with { Verdict = FaultVerdict.Void });

        Assert.That(folder.LoadResults().Single().Verdict, Is.EqualTo(FaultVerdict.Void));
    }

    /// <summary>A violation that does not come every time would be hidden by a repetition.</summary>
    [Test]
    public void What_was_broken_once_stays_broken_and_its_repetitions_are_told()
    {
        var (kept, broken) = (InventedExperiments.Results[1], InventedExperiments.Results[2]);
        var known = broken with { Violations = [broken.Violations[0] with { Known = "it gives up" }] };
        foreach (var made in new[] { broken, broken with { Verdict = FaultVerdict.Kept, Violations = [], ViolationCount = 0 }, known })
            folder.Save(made with { Cell = kept.Cell, Fault = broken.Fault });

        var read = folder.LoadResults().Single();
        var report = new GuaranteeReport(InventedExperiments.Document, [read]);
        using (Assert.EnterMultipleScope())
        {
            Assert.That((read.Verdict, read.Known), Is.EqualTo((FaultVerdict.Broken, (string?)null)));
            Assert.That(Text(report.WriteMarkdown), Does.Contain($"- {read.Name}: repeated: kept; broken for a known reason"));
        }
    }

    [Test]
    public void What_showed_nothing_before_it_was_kept_is_told()
    {
        var kept = InventedExperiments.Results[1];
        folder.Save(kept with { Verdict = FaultVerdict.Void, Because = "it did not settle" });
        folder.Save(kept with { Verdict = FaultVerdict.Failed, Because = "its process ended" });
        folder.Save(kept with { Discarded = ["a poll came between"] });

        var report = new GuaranteeReport(InventedExperiments.Document, folder.LoadResults());
        Assert.That(
            Text(report.WriteMarkdown),
            Does.Contain($"- {kept.Name}, because void: it did not settle; then failed: its process ended; then a poll came between"));
    }

    [Test]
    public void What_was_broken_for_a_known_reason_is_broken_without_one_if_a_repetition_shows_it()
    {
        var broken = InventedExperiments.Results[2];
        folder.Save(broken with { Violations = [broken.Violations[0] with { Known = "it gives up" }] });
        folder.Save(broken);

        Assert.That(folder.LoadResults().Single().Known, Is.Null);
    }

    [Test]
    public void Without_a_result_it_has_none() => Assert.That(folder.LoadResults(), Is.Empty);

    [Test]
    public void Reports_are_written_next_to_the_results()
    {
        folder.WriteReports(Report);

        Assert.That(File.ReadAllText(temporary.Below("run", "guarantees.md")).ReplaceLineEndings("\n"), Is.EqualTo(Text(Report.WriteMarkdown)));
        Assert.That(File.ReadAllText(temporary.Below("run", "guarantees.csv")), Is.EqualTo(Text(Report.WriteCsv)));
        Assert.That(folder.ReportPath, Is.EqualTo(temporary.Below("run", "guarantees.md")));
    }

    [TestCase("{ no JSON", "it is damaged: ")]
    [TestCase("{}", "it is of schema none")]
    [TestCase("", "it is damaged: ")]
    [TestCase("null", "it is of schema none")]
    [TestCase("{\"schema\": 2}", "it is damaged: ")]
    public void Damaged_results_are_named(string content, string reason)
    {
        folder.Save(InventedExperiments.Results[0]);
        File.AppendAllText(LinesPath, content + "\n");
        folder.Save(InventedExperiments.Results[1]);

        Assert.That(
            folder.LoadResults,
            Throws.TypeOf<KitException>()
                .With.Message.Matches($"^Cannot read {Regex.Escape(LinesPath)}, line 2[,:] {reason}")
                .And.Property(nameof(KitException.Remedy)).Not.Empty);
    }

    [Test]
    public void A_result_that_was_not_written_whole_is_left_out_and_said_so()
    {
        folder.Save(InventedExperiments.Document);
        folder.Save(InventedExperiments.Results[0]);
        folder.Save(InventedExperiments.Results[1]);
        File.WriteAllText(LinesPath, File.ReadAllText(LinesPath)[..^3]);

        using (Assert.EnterMultipleScope())
        {
            Assert.That(folder.LoadResults().Select(result => result.Name), Is.EqualTo([InventedExperiments.Results[0].Name]));
            Assert.That(Text(folder.LoadReport().WriteMarkdown), Does.Contain("- An experiment is left out: "));
            Assert.That(Text(output => folder.LoadReport().WriteTerminal(output, width: 140)), Does.Contain("An experiment is left out: "));
        }
    }

    [Test]
    public void What_is_saved_next_takes_the_place_of_one_that_was_not_written_whole()
    {
        folder.Save(InventedExperiments.Document);
        folder.Save(InventedExperiments.Results[0]);
        folder.Save(InventedExperiments.Results[1]);
        File.WriteAllText(LinesPath, File.ReadAllText(LinesPath)[..^3]);

        folder.Save(InventedExperiments.Results[2]);

        Assert.That(folder.LoadResults(), Has.Count.EqualTo(2));
        Assert.That(Text(folder.LoadReport().WriteMarkdown), Does.Not.Contain("left out: "));
    }

    [Test]
    public void A_result_of_another_schema_is_named_with_both()
    {
        folder.Save(InventedExperiments.Results[0] with { Schema = 99 });

        Assert.That(
            folder.LoadResults,
            Throws.TypeOf<KitException>()
                .With.Message.EqualTo($"Cannot read {LinesPath}, line 1: it is of schema 99, and this kit reads schema {ResultJson.Schema}.")
                .And.Property(nameof(KitException.Remedy)).EqualTo("Use the build of the kit that wrote it."));
    }

    [Test]
    public void A_run_without_its_document_is_named() =>
        Assert.That(folder.LoadDocument, Throws.TypeOf<KitException>().With.Message.Contains(temporary.Below("run", "faults.json")));

    private static string Text(Action<TextWriter> write)
    {
        using var output = new StringWriter { NewLine = "\n" };
        write(output);
        return output.ToString().ReplaceLineEndings("\n");
    }
}
