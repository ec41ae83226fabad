using System.IO.Compression;
using Kit.Runner.Results;
using Kit.Runner.Results.Loads;
using Kit.Runner.Results.Pages;
using Kit.Runner.Results.Published;
using Kit.Runner.Servers;
using Kit.Tests.Results.Documentation;

namespace Kit.Tests.Published;

/// <summary>The runs that are published under results/: small, and with the reports that their rounds give.</summary>
public sealed class PublishedRuns
{
    private const int MostFiles = 12;
    // 210 rounds of 10,000 commits take 2.8 MB, at the resolution of the server's timestamps, and 630 experiments with their evidence 0.9 MB.
    private const long MostBytes = 4_500_000;
    private const string Submitted = "submitted";

    private static readonly string Results = Path.Combine(RepositoryFiles.Root, "results");

    [Test]
    public async Task Each_has_few_files_and_few_bytes()
    {
        foreach (var folder in await FoldersAsync())
        {
            var files = Directory.GetFiles(folder, "*", SearchOption.AllDirectories);

            Assert.That(files, Has.Length.LessThanOrEqualTo(MostFiles), folder);
            Assert.That(files.Sum(file => new FileInfo(file).Length), Is.LessThanOrEqualTo(MostBytes), folder);
        }
    }

    [Test]
    public async Task Each_has_the_reports_that_report_writes()
    {
        foreach (var folder in await FoldersAsync())
            Assert.That(ReportFile.Differing(folder, ReportsOf(folder)), Is.Empty, $"{folder}: write them again with report.");
    }

    private static IReadOnlyList<ReportFile> ReportsOf(string folder) =>
        new LoadFolder(folder) is { Exists: true } load ? load.Reports : ResultFolder.Load(folder).Reports;

    [Test]
    public async Task Each_is_named_on_a_page() =>
        Assert.That(
            (await FoldersAsync()).Select(folder => $"results/{Path.GetRelativePath(Results, folder)}")
                .Except(FoldersOnThePages.Folders, StringComparer.Ordinal),
            Is.Empty);

    [Test]
    public async Task Each_that_was_handed_in_is_whole()
    {
        foreach (var file in (await PublishedAsync()).Where(file => Path.GetDirectoryName(file) is Submitted && Path.GetExtension(file) is ".zip"))
        {
            using var unpacked = new TemporaryFolder();
            await ZipFile.ExtractToDirectoryAsync(Path.Combine(Results, file), unpacked.Path);
            var runs = Directory.GetFiles(unpacked.Path, RunFolder.RunFile, SearchOption.AllDirectories);
            Assert.That(runs, Has.Length.EqualTo(1), file);
            Assert.That(ResultFolder.Load(Path.GetDirectoryName(runs[0])!).RequireWhole, Throws.Nothing, file);
        }
    }

    /// <summary>Those with files: an experiment of several commands has a folder for each in its own.</summary>
    internal static async Task<List<string>> FoldersAsync()
    {
        var folders = (await PublishedAsync())
            .Where(file => file.Contains('/', StringComparison.Ordinal) && Path.GetFileName(file) is not PublicationRecord.File)
            .Select(file => file[..file.LastIndexOf('/')]).Distinct(StringComparer.Ordinal).Where(name => name is not Submitted)
            .Select(name => Path.Combine(Results, name)).ToList();
        Assert.That(folders, Is.Not.Empty);
        return folders;
    }

    // Runs that are not committed stay on the machine that made them, and may be of any size.
    private static async Task<string[]> PublishedAsync()
    {
        if (ExternalProgram.OnSearchPath("git") is not { } git)
            return Ignored();
        var listed = await new ExternalProgram(git, Folder: Results).RunAsync(["ls-files"], CancellationToken.None);
        return listed.Succeeded ? listed.Output.Split('\n', StringSplitOptions.RemoveEmptyEntries) : Ignored();

        static string[] Ignored()
        {
            Assert.Ignore("Git does not say which runs are published.");
            return [];
        }
    }
}
