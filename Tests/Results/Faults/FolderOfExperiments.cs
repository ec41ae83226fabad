using Kit.Runner.Results;
using Kit.Runner.Results.Faults;

namespace Kit.Tests.Results.Faults;

/// <summary>The results of experiments as they lie in their folder.</summary>
public sealed class FolderOfExperiments
{
    private static readonly GuaranteeReport Report = new(InventedExperiments.Document, InventedExperiments.Results);

    private TemporaryFolder temporary = null!;
    private FaultFolder folder = null!;

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
    public void Lies_in_a_file_for_the_run_and_one_for_each_result()
    {
        Assert.That(folder.Exists, Is.False);

        folder.Save(InventedExperiments.Document);
        foreach (var result in InventedExperiments.Results)
            folder.Save(result);

        using (Assert.EnterMultipleScope())
        {
            Assert.That(folder.Exists, Is.True);
            Assert.That(folder.Location, Is.EqualTo(temporary.Below("run")));
            Assert.That(File.Exists(temporary.Below("run", "faults.json")), Is.True);
            Assert.That(
                Directory.GetFiles(temporary.Below("run", "faults")).Select(Path.GetFileName),
                Is.EquivalentTo(InventedExperiments.Results.Select(result => result.Name + ".json")));
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

    [Test]
    public void Without_a_result_it_has_none() => Assert.That(folder.LoadResults(), Is.Empty);

    [Test]
    public void Reports_are_written_next_to_the_results()
    {
        folder.WriteReports(Report);

        Assert.That(File.ReadAllText(temporary.Below("run", "guarantees.md")).ReplaceLineEndings("\n"), Is.EqualTo(Text(Report.WriteMarkdown)));
        Assert.That(File.ReadAllText(temporary.Below("run", "guarantees.csv")), Is.EqualTo(Text(Report.WriteCsv)));
        Assert.That((folder.TablesPath, folder.CsvPath), Is.EqualTo((temporary.Below("run", "guarantees.md"), temporary.Below("run", "guarantees.csv"))));
    }

    [TestCase("{ no JSON", "")]
    [TestCase("{}", "")]
    [TestCase("", "")]
    [TestCase("null", "it is empty")]
    public void Damaged_results_are_named(string content, string reason)
    {
        folder.Save(InventedExperiments.Results[0]);
        var path = Directory.GetFiles(temporary.Below("run", "faults")).Single();
        File.WriteAllText(path, content);

        Assert.That(
            folder.LoadResults,
            Throws.TypeOf<KitException>()
                .With.Message.StartsWith($"Cannot read {path}: {reason}")
                .And.Property(nameof(KitException.Remedy)).EqualTo("Restore it from a copy, or remove it: its experiment is then made again."));
    }

    [Test]
    public void A_result_under_another_name_is_refused()
    {
        folder.Save(InventedExperiments.Results[0]);
        var path = Directory.GetFiles(temporary.Below("run", "faults")).Single();
        var other = Path.Combine(Path.GetDirectoryName(path)!, "another.json");
        File.Move(path, other);

        Assert.That(
            folder.LoadResults,
            Throws.TypeOf<KitException>()
                .With.Message.EqualTo($"Cannot read {other}: it holds the result that belongs in {InventedExperiments.Results[0].Name}.json"));
    }

    [Test]
    public void A_result_of_another_schema_is_named_with_both()
    {
        folder.Save(InventedExperiments.Results[0] with { Schema = 99 });
        var path = Directory.GetFiles(temporary.Below("run", "faults")).Single();

        Assert.That(
            folder.LoadResults,
            Throws.TypeOf<KitException>()
                .With.Message.EqualTo($"Cannot read {path}: it is of schema 99, and this kit reads schema {ResultJson.Schema}.")
                .And.Property(nameof(KitException.Remedy)).EqualTo("Resume it with the kit that began it."));
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
