using Kit.Runner.Results;
using Kit.Runner.Results.Loads;

namespace Kit.Tests.Results.Loads;

[Parallelizable]
public sealed class FolderOfALoad
{
    [Test]
    public void Is_removed_with_those_that_were_made_for_it_if_nothing_was_saved()
    {
        using var parent = new TemporaryFolder();
        var empty = new LoadFolder(Path.Combine(parent.Path, "mine", "requests"));

        empty.Create();
        empty.RemoveIfEmpty();

        Assert.That(Directory.EnumerateFileSystemEntries(parent.Path), Is.Empty);
        Assert.That(Directory.Exists(parent.Path), "it was there before");
    }

    [Test]
    public void Stays_if_something_was_saved_in_it_or_next_to_it()
    {
        using var parent = new TemporaryFolder();
        var saved = new LoadFolder(Path.Combine(parent.Path, "mine", "requests"));
        var next = new LoadFolder(Path.Combine(parent.Path, "mine", "hours"));

        saved.Create();
        saved.Save(InventedLoads.Searched);
        next.Create();
        saved.RemoveIfEmpty();
        next.RemoveIfEmpty();

        Assert.That(saved.Exists);
        Assert.That(Directory.Exists(next.Location), Is.False);
    }

    [Test]
    public void Is_refused_if_it_is_there()
    {
        using var parent = new TemporaryFolder();

        Assert.That(new LoadFolder(parent.Path).Create, Throws.TypeOf<KitException>().With.Message.EqualTo($"{parent.Path} exists."));
    }
}
