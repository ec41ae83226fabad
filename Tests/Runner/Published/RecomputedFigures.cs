using Kit.Runner.Results;
using Kit.Runner.Results.Published;
using Kit.Runner.Servers;

namespace Kit.Tests.Published;

/// <summary>The script that computes the figures of a run again, from its moments and with nothing of the kit.</summary>
[Parallelizable]
public sealed class RecomputedFigures
{
    private static readonly string Published = Path.Combine(RepositoryFiles.Root, "results", "2026-11-24-de6d9ee-nservicebus");

    private TemporaryFolder temporary = null!;

    [SetUp]
    public void CopyRun()
    {
        temporary = new TemporaryFolder();
        Copy(Published, temporary);
    }

    [TearDown]
    public void RemoveRun() => temporary.Dispose();

    [Test]
    public async Task Those_of_a_run_are_found_equal()
    {
        var result = await RecomputeAsync();

        Assert.That(result.ExitCode, Is.Zero, result.Output);
        Assert.That(result.Output, Does.Contain("Summary: 320 figures, equal").And.Contain("all equal"));
    }

    /// <param name="changes">Four texts for each: the file, a figure in it, what stands there instead, and what is found.</param>
    [TestCase(
        "rounds.csv", ",valid,yes,", ",valid,no,", "counts: no stands there",
        "rounds.csv", "10000,2,10000,", "10000,2,9999,", "committed: 9999 stands there, 10000 is computed",
        "tables.md", "| 1 | 6.27 |", "| 1 | 6.28 |", "1: 6.28 | ",
        "tables.md", "(1.12 to ", "(1.13 to ", "Ratio to strictest: ")]
    [TestCase(
        "tables.md", "| 5.1 % |", "| 9.9 % |", "CV: ",
        "tables.md", "| 3.08 |", "| 9.99 |", "Commits: ",
        "tables.md", "0.801 (0.637 to ", "0.9 (0.637 to ", "Ratio to default: ")]
    [TestCase(
        "tables.md", "#### dtc-off", "#### other", "bare/postgresql/dtc-off/ado has no table",
        "tables.md", "## Summary", "## Other", "Summary, there is none")]
    [TestCase("tables.md", "| Mean msg/s |", "| Mean |", "there is no column 'Mean msg/s'")]
    public async Task A_changed_figure_is_found(params string[] changes)
    {
        foreach (var change in changes.Chunk(4))
        {
            var path = temporary.Below(change[0]);
            var whole = await File.ReadAllTextAsync(path);
            var at = whole.IndexOf(change[1], StringComparison.Ordinal);
            Assert.That(at, Is.Not.Negative, change[1]);
            await File.WriteAllTextAsync(path, whole[..at] + change[2] + whole[(at + change[1].Length)..]);
        }

        var result = await RecomputeAsync();

        Assert.That(result.ExitCode, Is.EqualTo(1), result.Output);
        foreach (var change in changes.Chunk(4))
            Assert.That(result.Output, Does.Contain("DIFFERS: ").And.Contain(change[3]));
    }

    /// <summary>The bare driver has no such setting, so its cell does not name the axis.</summary>
    [Test]
    public async Task A_changed_ratio_of_a_setting_of_frameworks_to_the_bare_driver_is_found()
    {
        using var copied = new TemporaryFolder();
        Copy(Path.Combine(RepositoryFiles.Root, Publication.FolderNamed(RepositoryFiles.Root, "frameworks")), copied);
        var lines = await File.ReadAllLinesAsync(copied.Below("tables.md"));
        var summary = Array.FindIndex(lines, line => line.StartsWith("| Mode | Valid rounds |", StringComparison.Ordinal));
        var changed = Array.FindIndex(lines, summary, line => line.Contains("/next-delivery/", StringComparison.Ordinal));
        var row = lines[changed].Split(" | ");
        row[Array.IndexOf(lines[summary].Split(" | "), "Ratio to bare")] = "9.99";
        lines[changed] = string.Join(" | ", row);
        await File.WriteAllLinesAsync(copied.Below("tables.md"), lines);

        var result = await RecomputeAsync(copied.Path);

        Assert.That(result.ExitCode, Is.EqualTo(1), result.Output);
        Assert.That(result.Output, Does.Contain(", Ratio to bare: 9.99 stands there, 0.").And.Contain("\n1 figures differ"));
    }

    [Test]
    [Exhaustive]
    public async Task Those_of_each_published_run_are_equal()
    {
        foreach (var folder in (await PublishedRuns.FoldersAsync()).Where(RunFolder.IsIn))
        {
            var result = await RecomputeAsync(folder);

            Assert.That(result.ExitCode, Is.Zero, $"{folder}: {result.Output}");
        }
    }

    [Test]
    public async Task A_line_that_calls_a_round_valid_against_its_own_account_is_found()
    {
        var path = temporary.Below("rounds.jsonl");
        var whole = await File.ReadAllTextAsync(path);
        var at = whole.IndexOf("\"once\":10000", StringComparison.Ordinal);
        await File.WriteAllTextAsync(path, whole[..at] + "\"once\":9999" + whole[(at + "\"once\":10000".Length)..]);

        var result = await RecomputeAsync();

        Assert.That(result.ExitCode, Is.EqualTo(2), result.Output);
        Assert.That(result.Output, Does.Contain("is called valid, and not each of its messages was handled once"));
    }

    [Test]
    public async Task A_folder_of_faults_has_nothing_to_recompute()
    {
        using var faults = new TemporaryFolder();
        await File.WriteAllTextAsync(faults.Below("faults.jsonl"), "");

        var result = await RecomputeAsync(faults.Path);

        Assert.That(result.ExitCode, Is.EqualTo(2), result.Output);
        Assert.That(result.Output, Does.Contain($"{faults.Path} holds faults, and no run; there is nothing to recompute."));
    }

    [Test]
    public async Task A_changed_moment_is_found()
    {
        var path = temporary.Below("moments.bin");
        var moments = await File.ReadAllBytesAsync(path);
        moments[100] ^= 1;
        await File.WriteAllBytesAsync(path, moments);

        var result = await RecomputeAsync();

        Assert.That(result.ExitCode, Is.EqualTo(2), result.Output);
        Assert.That(result.Output, Does.Contain("moments.bin, byte 0: the checksum is wrong."));
    }

    private static void Copy(string folder, TemporaryFolder to)
    {
        foreach (var file in Directory.GetFiles(folder))
            File.Copy(file, to.Below(Path.GetFileName(file)));
    }

    private Task<ProgramResult> RecomputeAsync() => RecomputeAsync(temporary.Path);

    private static Task<ProgramResult> RecomputeAsync(string folder) => new ExternalProgram(ExternalProgram.OnSearchPath("dotnet")!).RunAsync(
        ["run", Path.Combine(RepositoryFiles.Root, "results", "recompute.cs"), "--", folder], CancellationToken.None);
}
