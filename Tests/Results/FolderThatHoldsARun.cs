using Kit.Runner.Results;

namespace Kit.Tests.Results;

public sealed class FolderThatHoldsARun
{
    [TestCase("run.json")]
    [TestCase("rounds.jsonl")]
    [TestCase("moments.bin")]
    [TestCase("rounds.csv")]
    [TestCase("graphs.svg")]
    [TestCase("tables.md")]
    public void Run_is_refused_and_nothing_is_touched(string file)
    {
        using var temporary = new TemporaryFolder();
        File.WriteAllText(temporary.Below(file), "kept");

        Assert.That(
            () => RunFolder.Create(temporary.Path, InventedRun.Document),
            Throws.TypeOf<KitException>().With.Message.Contains($"already contains a run: {file}").And.Property(nameof(KitException.Remedy)).Contains("--out"));
        using (Assert.EnterMultipleScope())
        {
            Assert.That(File.ReadAllText(temporary.Below(file)), Is.EqualTo("kept"));
            Assert.That(Directory.GetFileSystemEntries(temporary.Path), Has.Length.EqualTo(1));
        }
    }

    [TestCase("rounds")]
    [TestCase("graphs")]
    public void One_of_an_older_kit_is_a_run_too(string below)
    {
        using var temporary = new TemporaryFolder();
        Directory.CreateDirectory(temporary.Below(below));

        Assert.That(() => RunFolder.Create(temporary.Path, InventedRun.Document), Throws.TypeOf<KitException>());
    }

    [Test]
    public void Folder_with_other_files_is_used()
    {
        using var temporary = new TemporaryFolder();
        File.WriteAllText(temporary.Below("notes.txt"), "mine");

        Assert.That(() => RunFolder.Create(temporary.Path, InventedRun.Document), Throws.Nothing);
    }
}
