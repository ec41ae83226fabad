using Kit.Runner.Results;
using Kit.Runner.Results.Pages;

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

    [Test]
    public void Without_a_round_it_can_be_removed_if_the_run_made_it()
    {
        using var temporary = new TemporaryFolder();
        var made = RunFolder.Create(temporary.Below("made"), InventedRun.Document);

        Assert.That(made.TryRemove(), Is.True);
        Assert.That(made.Location, Does.Not.Exist);
    }

    [TestCase("before", false)]
    [TestCase("made", true)]
    public void With_anything_else_or_from_before_it_is_never_removed(string name, bool hasNotes)
    {
        using var temporary = new TemporaryFolder();
        Directory.CreateDirectory(temporary.Below("before"));
        var folder = RunFolder.Create(temporary.Below(name), InventedRun.Document);
        if (hasNotes)
            File.WriteAllText(Path.Combine(folder.Location, "notes.txt"), "mine");

        Assert.That(folder.TryRemove(), Is.False);
        Assert.That(Path.Combine(folder.Location, "run.json"), Does.Exist);
    }

    [Test]
    public void File_is_not_called_a_folder()
    {
        using var temporary = new TemporaryFolder();
        File.WriteAllText(temporary.Below("README.md"), "");

        Assert.That(
            () => ResultFolder.Load(temporary.Below("README.md")),
            Throws.TypeOf<KitException>().With.Message.EqualTo($"{temporary.Below("README.md")} is a file, and not a folder of results."));
    }

    [Test]
    public void Folder_with_other_files_is_used()
    {
        using var temporary = new TemporaryFolder();
        File.WriteAllText(temporary.Below("notes.txt"), "mine");

        Assert.That(() => RunFolder.Create(temporary.Path, InventedRun.Document), Throws.Nothing);
    }
}
