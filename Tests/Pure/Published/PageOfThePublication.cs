using Kit.Runner.CommandLine;
using Kit.Runner.Results;
using Kit.Runner.Results.Faults;
using Kit.Runner.Results.Loads;
using Kit.Runner.Results.Pages;
using Kit.Runner.Results.Published;

namespace Kit.Tests.Published;

/// <summary>The page of the publication that is in the repository.</summary>
public sealed class PageOfThePublication
{
    private const int MostBytes = 2_000_000;

    [Test]
    public async Task Is_as_it_would_be_written()
    {
        var plan = Publication.Read(RepositoryFiles.Root);
        var folder = plan.FolderOf(plan.Page);
        var content = PageOf.ContentOf(ResultFolder.Load(Path.Combine(RepositoryFiles.Root, folder)), []);

        using var temporary = new TemporaryFolder();
        await PageOf.WriteAsync(content, temporary.Below("index.html"), mayReplace: false, TextWriter.Null);
        var (stored, now) = (FilesOf(Path.Combine(RepositoryFiles.Root, Path.GetDirectoryName(Publication.PageFile)!)), FilesOf(temporary.Path));
        var writeAgain = $"Write it again: ./run.sh report {folder} --html {Publication.PageFile} --replace";

        Assert.That(stored["index.html"], Has.Length.LessThanOrEqualTo(MostBytes));
        Assert.That(stored.Keys, Is.EquivalentTo(now.Keys), writeAgain);
        Assert.That(now.Keys.Where(name => stored[name] != now[name]), Is.Empty, writeAgain);
    }

    [Test]
    public void Each_part_was_made_by_the_commit_of_the_publication()
    {
        var plan = Publication.Read(RepositoryFiles.Root);
        var record = PublicationRecord.In(Path.Combine(RepositoryFiles.Root, plan.Folder))!;

        Assert.That(record.Commands, Is.Not.Empty);
        foreach (var part in record.Commands.Select(command => command.Part).Distinct(StringComparer.Ordinal))
        {
            var builds = BuildsIn(Path.Combine(RepositoryFiles.Root, plan.FolderOf(part))).ToList();
            Assert.That(builds, Is.Not.Empty, part);
            Assert.That(builds.Select(build => build.Commit), Is.All.EqualTo(new GitCommit(record.Commit, Dirty: false)), part);
            // A load stores none.
            Assert.That(builds.Where(build => !build.IsLoad).Select(build => build.Fingerprint), Is.All.EqualTo(record.Fingerprint), part);
        }
    }

    /// <summary>The text of each file below a folder, by its path in it.</summary>
    private static Dictionary<string, string> FilesOf(string folder) => Directory.EnumerateFiles(folder, "*", SearchOption.AllDirectories).ToDictionary(
        file => Path.GetRelativePath(folder, file), file => File.ReadAllText(file).ReplaceLineEndings("\n"), StringComparer.Ordinal);

    private static IEnumerable<(GitCommit? Commit, string? Fingerprint, bool IsLoad)> BuildsIn(string part)
    {
        foreach (var folder in Directory.EnumerateDirectories(part, "*", SearchOption.AllDirectories).Prepend(part))
        {
            if (RunFolder.IsIn(folder) && RunFolder.Open(folder).LoadDocument() is var run)
                yield return (run.Commit, run.Fingerprint, IsLoad: false);
            if (new FaultFolder(folder) is { Exists: true } faults && faults.LoadDocument() is var experiments)
                yield return (experiments.Commit, experiments.Fingerprint, IsLoad: false);
            if (new LoadFolder(folder) is { Exists: true } loads)
                yield return (loads.LoadDocument().Commit, null, IsLoad: true);
        }
    }
}
