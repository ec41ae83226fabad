using System.IO.Compression;
using System.Text;
using Kit.Runner.Results;
using Kit.Runner.Results.Faults;
using Kit.Tests.Results.Faults;

namespace Kit.Tests.Results;

/// <summary>One file of a run: what goes in, what is refused, and what a reader makes of a file of whomever.</summary>
public sealed class ResultHandedIn
{
    private TemporaryFolder temporary = null!;

    private string Folder => temporary.Below("run");

    private string Zip => temporary.Below("handed", "in.zip");

    [SetUp]
    public void MakeFolder() => temporary = new TemporaryFolder();

    [TearDown]
    public void RemoveFolder() => temporary.Dispose();

    [Test]
    public void Comes_back_with_the_same_reports()
    {
        Save(InventedRun.Document);
        SaveExperiments();
        ResultFolder.Load(Folder).WriteReports();

        var packed = Bundle.Pack(Folder, Zip);

        using var bundle = Bundle.Open(Zip);
        using (Assert.EnterMultipleScope())
        {
            Assert.That(packed.Guarantees, Is.Not.Null);
            Assert.That(NamesIn(Zip), Is.EqualTo([.. RunFolder.Files, .. FaultFolder.Files]));
            Assert.That(bundle.Content.Differing, Is.Empty);
            Assert.That(bundle.Content.Reports.Select(report => report.Text), Is.EqualTo(packed.Reports.Select(report => report.Text)));
        }
    }

    [Test]
    public void Without_experiments_it_is_a_run()
    {
        SaveWithReports(InventedRun.Document);

        Bundle.Pack(Folder, Zip);

        using var bundle = Bundle.Open(Zip);
        Assert.That(NamesIn(Zip), Is.EqualTo(RunFolder.Files));
        Assert.That(bundle.Content.Guarantees, Is.Null);
    }

    [Test]
    public void Leaves_nothing_behind()
    {
        SaveWithReports(InventedRun.Document);
        Bundle.Pack(Folder, Zip);
        string unpacked;

        using (var bundle = Bundle.Open(Zip))
            unpacked = bundle.Content.Location;

        Assert.That(Directory.Exists(unpacked), Is.False);
    }

    [TestCase("results/2026-03-01-0123456-2")]
    [TestCase("results/2026-03-01-0123456-2/")]
    public void Is_named_after_the_folder(string folder) => Assert.That(
        Bundle.DefaultPathOf(folder), Is.EqualTo(Path.Combine("results", "submitted", "2026-03-01-0123456-2.zip")));

    [Test]
    public void A_stopped_run_is_not_packed_and_not_opened_when_somebody_packed_it_by_hand()
    {
        SaveWithReports(InventedRun.Document with { Ending = RunEnding.Stopped("Ctrl+C") });
        AssertNotPacked("its run is not complete (stopped: Ctrl+C)");

        Directory.CreateDirectory(Path.GetDirectoryName(Zip)!);
        System.IO.Compression.ZipFile.CreateFromDirectory(Folder, Zip);

        AssertNotOpened($"{Zip} is not a bundle of a complete run: its run is not complete (stopped: Ctrl+C)");
    }

    [Test]
    public void A_run_that_lacks_a_round_is_not_packed()
    {
        SaveWithReports(InventedRun.Document with { Settings = InventedRun.Document.Settings with { Rounds = 5 } });
        var lines = Path.Combine(Folder, "rounds.jsonl");
        File.WriteAllLines(lines, [.. File.ReadLines(lines).SkipLast(1)]);

        AssertNotPacked("has no line for bare/postgresql/transactions-off/ado, round 5");
    }

    [Test]
    public void Experiments_alone_are_not_packed()
    {
        SaveExperiments();

        AssertNotPacked("it contains no run");
    }

    [Test]
    public void An_experiment_that_was_not_saved_whole_is_not_packed()
    {
        Save(InventedRun.Document);
        SaveExperiments();
        File.AppendAllText(Path.Combine(Folder, "faults.jsonl"), "{\"schema\"");
        ResultFolder.Load(Folder).WriteReports();

        AssertNotPacked("an experiment was not saved completely");
    }

    [Test]
    public void Experiments_that_were_stopped_are_not_packed()
    {
        Save(InventedRun.Document);
        SaveExperiments();
        var experiments = new FaultFolder(Folder);
        experiments.Save(experiments.LoadDocument() with { Outstanding = ["a.cell.kill-before-ack"] });
        ResultFolder.Load(Folder).WriteReports();

        AssertNotPacked("1 experiments with faults are outstanding");
    }

    [TestCase("tables.md")]
    [TestCase("graphs.svg")]
    [TestCase("rounds.csv")]
    public void A_report_that_its_rounds_do_not_give_is_not_packed(string report)
    {
        SaveWithReports(InventedRun.Document);
        File.AppendAllText(Path.Combine(Folder, report), "more");

        AssertNotPacked($"{report} is missing, or does not match its rounds and experiments");
    }

    [Test]
    public void Nothing_is_written_over()
    {
        SaveWithReports(InventedRun.Document);
        Directory.CreateDirectory(Path.GetDirectoryName(Zip)!);
        File.WriteAllText(Zip, "kept");

        AssertNotPacked("already exists");
        Assert.That(File.ReadAllText(Zip), Is.EqualTo("kept"));
    }

    [Test]
    public void A_report_that_was_changed_in_it_is_named()
    {
        SaveWithReports(InventedRun.Document);
        Bundle.Pack(Folder, Zip);
        Change(Zip, archive =>
        {
            archive.GetEntry("tables.md")!.Delete();
            Add(archive, "tables.md", "# A better run");
        });

        using var bundle = Bundle.Open(Zip);

        Assert.That(bundle.Content.Differing, Is.EqualTo(["tables.md"]));
    }

    [TestCase("../run.json", "contains '../run.json', which is not a file of a run")]
    [TestCase("/etc/run.json", "contains '/etc/run.json', which is not a file of a run")]
    [TestCase("rounds/tables.md", "contains 'rounds/tables.md', which is not a file of a run")]
    [TestCase("notes.txt", "contains 'notes.txt', which is not a file of a run")]
    [TestCase("RUN.JSON", "contains 'RUN.JSON', which is not a file of a run")]
    [TestCase("run.json", "contains a file twice")]
    [TestCase("faults.json", "lacks faults.jsonl, guarantees.csv, guarantees.md")]
    public void A_file_that_does_not_belong_is_refused(string name, string because)
    {
        SaveWithReports(InventedRun.Document);
        Bundle.Pack(Folder, Zip);
        Change(Zip, archive => Add(archive, name, "{}"));

        AssertNotOpened(because);
    }

    [Test]
    public void A_file_that_is_missing_is_named()
    {
        SaveWithReports(InventedRun.Document);
        Bundle.Pack(Folder, Zip);
        Change(Zip, archive => archive.GetEntry("moments.bin")!.Delete());

        AssertNotOpened("lacks moments.bin");
    }

    [Test]
    public void A_damaged_document_is_named_as_one_of_the_bundle()
    {
        SaveWithReports(InventedRun.Document);
        Bundle.Pack(Folder, Zip);
        Change(Zip, archive =>
        {
            archive.GetEntry("run.json")!.Delete();
            Add(archive, "run.json", "{\"schema\": 9}");
        });

        AssertNotOpened($"Cannot read {Zip}{Path.DirectorySeparatorChar}run.json: it is of schema 9");
    }

    [Test]
    public void What_is_no_archive_is_refused()
    {
        Directory.CreateDirectory(Path.GetDirectoryName(Zip)!);
        File.WriteAllText(Zip, "no archive");

        AssertNotOpened($"Cannot read {Zip}: ");
    }

    [Test]
    public void One_that_is_not_there_is_named() => AssertNotOpened($"Cannot read {Zip}: ");

    [Test]
    public void One_that_would_fill_the_disk_is_refused()
    {
        SaveWithReports(InventedRun.Document);
        Bundle.Pack(Folder, Zip);
        Change(Zip, archive =>
        {
            archive.GetEntry("moments.bin")!.Delete();
            using var stream = archive.CreateEntry("moments.bin", CompressionLevel.Fastest).Open();
            var zeros = new byte[1024 * 1024];
            for (var written = 0; written <= 256; written++)
                stream.Write(zeros);
        });

        AssertNotOpened("it is larger than 256 MiB");
    }

    private void AssertNotPacked(string because) => Assert.That(
        () => Bundle.Pack(Folder, Zip),
        Throws.TypeOf<KitException>().With.Message.Contains(because).And.Property(nameof(KitException.Remedy)).Not.Empty);

    private void AssertNotOpened(string because) => Assert.That(
        () => Bundle.Open(Zip),
        Throws.TypeOf<KitException>().With.Message.Contains(because).And.Property(nameof(KitException.Remedy)).Not.Empty);

    private void Save(RunDocument document)
    {
        var folder = RunFolder.Create(Folder, document);
        foreach (var round in InventedRun.Rounds)
            folder.Save(round);
    }

    private void SaveWithReports(RunDocument document)
    {
        Save(document);
        ResultFolder.Load(Folder).WriteReports();
    }

    private void SaveExperiments()
    {
        var folder = new FaultFolder(Folder);
        folder.Save(InventedExperiments.Document);
        foreach (var result in InventedExperiments.Results)
            folder.Save(result);
    }

    private static List<string> NamesIn(string file)
    {
        using var archive = ZipFile.OpenRead(file);
        return [.. archive.Entries.Select(entry => entry.FullName)];
    }

    private static void Change(string file, Action<ZipArchive> change)
    {
        using var archive = ZipFile.Open(file, ZipArchiveMode.Update);
        change(archive);
    }

    private static void Add(ZipArchive archive, string name, string content)
    {
        using var stream = archive.CreateEntry(name).Open();
        stream.Write(Encoding.UTF8.GetBytes(content));
    }
}
