using Kit.Runner.Results;

namespace Kit.Tests.Results;

/// <summary>
/// Root may write where permissions forbid it, so the folder lies below a regular file; and a disk is full where the file next to the
/// one to write is a link to /dev/full, which answers each write as a full disk does.
/// </summary>
public sealed class FolderThatCannotBeWritten
{
    [Test]
    public void Run_is_refused_before_any_work()
    {
        using var temporary = new TemporaryFolder();
        File.WriteAllText(temporary.Below("file"), "kept");

        Assert.That(
            () => RunFolder.Create(temporary.Below("file", "run"), InventedRun.Document),
            Throws.TypeOf<KitException>().With.Message.Contains("Cannot write").And.Property(nameof(KitException.Remedy)).Contains("--out"));
        Assert.That(File.ReadAllText(temporary.Below("file")), Is.EqualTo("kept"));
    }

    [Test]
    public void Round_that_cannot_take_its_place_leaves_nothing_half_written()
    {
        using var temporary = new TemporaryFolder();
        var folder = RunFolder.Create(temporary.Below("run"), InventedRun.Document);
        var round = InventedRun.Rounds[0];
        Directory.CreateDirectory(temporary.Below("run", "moments.bin"));

        Assert.That(() => folder.Save(round), Throws.TypeOf<KitException>().With.Message.Contains("moments.bin"));
        Assert.That(File.Exists(temporary.Below("run", "rounds.jsonl")), Is.False);
    }

    [Test]
    [Platform(Include = "Linux", Reason = "/dev/full is a device of Linux")]
    public void Full_disk_leaves_the_document_that_was_there()
    {
        using var temporary = new TemporaryFolder();
        var folder = RunFolder.Create(temporary.Below("run"), InventedRun.Document);
        var before = File.ReadAllText(temporary.Below("run", "run.json"));
        File.CreateSymbolicLink(temporary.Below("run", "run.json.partial"), "/dev/full");

        Assert.That(
            () => folder.Save(InventedRun.Document with { Ending = RunEnding.Stopped("disk full") }),
            Throws.TypeOf<KitException>().With.Message.Contains("No space left on device").And.Message.Contains("run.json"));
        using (Assert.EnterMultipleScope())
        {
            Assert.That(File.ReadAllText(temporary.Below("run", "run.json")), Is.EqualTo(before));
            Assert.That(Directory.GetFiles(temporary.Below("run"), "*.partial"), Is.Empty);
        }
    }
}
