using System.Text.RegularExpressions;
using Kit.Guarantees;
using Kit.Runner.Results;
using Kit.Runner.Results.Faults;
using Kit.Runner.Results.Pages;
using Kit.Runner.Results.Points;
using Kit.Runner.Results.Published;

namespace Kit.Tests.Results.Documentation;

/// <summary>The folders of results that the pages name: whatever is published, its figures may be shown.</summary>
public sealed partial class FoldersOnThePages
{
    /// <summary>Those in the marks of blocks, and those to whose tables a page links.</summary>
    internal static readonly IReadOnlyList<string> Folders =
    [
        .. MarkdownPage.All.Select(path => (Path: path, Text: File.ReadAllText(Path.Combine(RepositoryFiles.Root, path))))
            .SelectMany(page => Page.Parse(page.Path, page.Text).Blocks.SelectMany(block => block.Folders)
                .Select(folder => Publication.FolderNamed(RepositoryFiles.Root, folder))
                .Concat(Linked().Matches(page.Text).Select(link => link.Groups["folder"].Value)))
            .Distinct(StringComparer.Ordinal),
    ];

    private static IEnumerable<string> Runs => Folders.Where(folder => RunFolder.IsIn(PathOf(folder)));

    private static IEnumerable<string> Experiments => Folders.Where(folder => new FaultFolder(PathOf(folder)).Exists);

    [TestCaseSource(nameof(Runs))]
    public void Every_round_is_valid_and_every_message_is_accounted_for(string folder)
    {
        var run = RunFolder.Open(PathOf(folder)).Load();

        Assert.That(run.Rounds, Is.Not.Empty);
        Assert.Multiple(() =>
        {
            foreach (var round in run.Rounds)
            {
                Assert.That(round.Outcome.IsValid(), Is.True, round.Name);
                Assert.That(round.OffsetsMilliseconds, Has.Count.EqualTo(round.Messages), round.Name);
                Assert.That(round.Accounts[DeliveryClass.Once], Is.EqualTo(round.Messages), round.Name);
            }
        });
    }

    [TestCaseSource(nameof(Experiments))]
    public void Every_promise_was_kept_or_is_known_not_to_be_or_was_broken_on_purpose(string folder)
    {
        var results = new FaultFolder(PathOf(folder)).LoadResults();

        Assert.That(results, Is.Not.Empty);
        foreach (var result in results)
        {
            Assert.That(
                result.Storm?.Unflushed is null ? result.IsGood || result.Known is not null || IsTold(result, folder) : result.Verdict is FaultVerdict.Broken,
                Is.True, $"{result.Name}: {result.Verdict} {result.Because}");
        }
    }

    [TestCaseSource(nameof(Experiments))]
    public void The_speeds_are_those_of_the_run_that_is_named(string folder)
    {
        if (new FaultFolder(PathOf(folder)).LoadDocument().Speeds is not { } speeds)
            return;

        var run = SpeedSource.Read(PathOf(speeds.Folder));
        Assert.That(speeds.PerSecond, Is.EqualTo(run.PerSecond));
        Assert.That(speeds.Commit, Is.EqualTo(run.Commit));
    }

    /// <summary>Whether a page that shows the folder names the experiment, at a point or a storm, in which the promise was broken.</summary>
    private static bool IsTold(FaultResult result, string folder)
    {
        var name = result.Point?.Token is { } token ? $"`{token}`" : $"In the storm of `{result.Cell.Framework}/{result.Cell.Transport}/{result.Cell.Mode}` ";
        return result.Verdict is FaultVerdict.Broken && (result.Point is not null || result.Storm is not null)
            && MarkdownPage.All.Select(path => File.ReadAllText(PathOf(path))).Any(
                text => text.Contains(folder, StringComparison.Ordinal) && text.Contains(name, StringComparison.Ordinal));
    }

    private static string PathOf(string path) => Path.Combine(RepositoryFiles.Root, path);

    [GeneratedRegex(@"(?<folder>results/[0-9a-z/-]+)/(tables|guarantees|load)\.md", RegexOptions.ExplicitCapture, matchTimeoutMilliseconds: 1_000)]
    private static partial Regex Linked();
}
