using Kit.Runner.CommandLine;
using Kit.Runner.Html;
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

        var stored = await File.ReadAllTextAsync(Path.Combine(RepositoryFiles.Root, Publication.PageFile));

        Assert.That(stored, Has.Length.LessThanOrEqualTo(MostBytes));
        Assert.That(
            stored.ReplaceLineEndings("\n") == (await HtmlPage.RenderAsync(content)).ReplaceLineEndings("\n"), Is.True,
            $"Write it again: ./run.sh report {folder} --html {Publication.PageFile} --replace");
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
