using System.Diagnostics;
using System.Globalization;
using Kit.Runner.Results;
using Kit.Runner.Rounds.Comparing;
using Kit.Runner.Servers;
using Kit.Tests.CommandLine;
using Kit.Tests.Rounds;

namespace Kit.Tests.Comparing;

/// <summary>The tests' own runner compared with itself and with one that is not as it, on a named server.</summary>
[Parallelizable]
public sealed class BuildsInTurns : OnAServerOfItsOwn
{
    private const string RealRunner = "exec \"{0}\" \"$@\"";

    private string Folder => Path.Combine(Parent.Path, "compared");

    [Test]
    public async Task Rounds_of_both_are_kept_as_two_runs_and_paired()
    {
        var before = await Server.DatabasesAsync();
        var markdown = Path.Combine(Parent.Path, "for-a-pull-request.md");
        using var runner = Start(
            Here, Here, RunnerProcess.ProgramPath, "--rounds", "2", "--messages", "50", "--order-seed", "7", "--markdown", markdown);

        var result = await runner.EndAsync();

        Assert.That(result.ExitCode, Is.EqualTo(ExitCode.Success), result.Output + result.Errors);
        var (one, other) = (RunFolder.Open(Path.Combine(Folder, "before")).Load(), RunFolder.Open(Path.Combine(Folder, "after")).Load());
        var report = await File.ReadAllTextAsync(Path.Combine(Folder, ComparePlan.ReportFile));
        using (Assert.EnterMultipleScope())
        {
            foreach (var run in new[] { one, other })
            {
                Assert.That(run.Rounds.Select(round => (round.Round, round.Outcome.IsValid(), round.Messages)), Is.EquivalentTo(
                    new[] { (1, true, 50), (2, true, 50) }));
                Assert.That(run.Document.Settings, Is.EqualTo(
                    new RunSettings(50, Rounds: 2, Concurrency: 2, SeedRows: 10, WarmUp: 5, OrderSeed: 7, Quick: false)));
                Assert.That(run.Document.Ending, Is.EqualTo(RunEnding.Completed));
                Assert.That(run.Document.Build!.Folder, Is.EqualTo(Here));
            }

            Assert.That(result.Output, Does.Contain("The two builds are identical, byte for byte").And.Contain(
                "2 of 2: bare/postgresql/scope-off/ado, round 2: before "));
            Assert.That(result.Errors, Is.Empty);
            Assert.That(report, Does.Contain("| bare/postgresql/scope-off/ado | 2 | ").And.Contain(Here).And.Not.Contain("INCOMPLETE")
                .And.Contain("NOISE NOT KNOWN: load from other processes was not measured: a server is not the kit's own"));
            Assert.That(await File.ReadAllTextAsync(markdown), Is.EqualTo(report));
            Assert.That(Directory.GetFileSystemEntries(Folder).Select(Path.GetFileName), Is.EquivalentTo(
                new[] { "before", "after", ComparePlan.ReportFile }));
            Assert.That(Everything() + result.Output, Does.Not.Contain(Server.Password));
            Assert.That(await Server.DatabasesAsync(), Is.EqualTo(before));
        }
    }

    [Exhaustive]
    [TestCase(false)]
    [TestCase(true, Description = "Ctrl+C on a terminal goes to the whole process group, and so to the build that runs.")]
    public async Task Stopped_it_keeps_finished_pairs_and_leaves_nothing_behind(bool toGroup)
    {
        IgnoreOutsideLinux();
        var before = await Server.DatabasesAsync();
        using var runner = Start(Here, Here, "setsid", RunnerProcess.ProgramPath, "--rounds", "2", "--messages", "1000");
        await runner.PrintedAsync("1 of 2: ");

        await runner.SignalAsync("INT", toGroup);
        var result = await runner.EndAsync();

        using (Assert.EnterMultipleScope())
        {
            Assert.That(result.ExitCode, Is.EqualTo(ExitCode.Interrupted), result.Output + result.Errors);
            Assert.That(result.Output, Does.Contain($"Stopped. Finished pairs of rounds: 1, kept in {Folder}"));
            Assert.That(
                await File.ReadAllTextAsync(Path.Combine(Folder, ComparePlan.ReportFile)),
                Does.Contain("- INCOMPLETE: before is stopped: interrupted.").And.Contain("| 1 |"));
            Assert.That(RunFolder.Open(Path.Combine(Folder, "before")).Load().Document.Ending.State, Is.EqualTo(RunState.Stopped));
            Assert.That(await Server.DatabasesAsync(), Is.EqualTo(before), "Both builds were let drop their databases.");
        }
    }

    [Test]
    [Exhaustive]
    public async Task Without_a_working_cell_in_common_it_says_what_each_has()
    {
        IgnoreOutsideLinux();
        var other = MakeBuild(
            "for word; do shift; set -- \"$@\" \"$(printf %s \"$word\" | sed s/scope-off/shared/)\"; done\n" + RealRunner);
        using var runner = Start(Here, other, RunnerProcess.ProgramPath, "--messages", "1");

        var result = await runner.EndAsync();

        using (Assert.EnterMultipleScope())
        {
            Assert.That(result.ExitCode, Is.EqualTo(ExitCode.Failure), result.Output);
            Assert.That(result.Errors, Does.StartWith(
                "error: The two builds have no working cell in common. Before: bare/postgresql/scope-off/ado. "
                + "After: bare/postgresql/shared/ado.")
                .And.Contain("\n  → "));
        }
    }

    [Test]
    public async Task A_build_that_refuses_is_named_with_its_own_words()
    {
        IgnoreOutsideLinux();
        var other = MakeBuild("echo 'error: no wind today' >&2; echo '  → wait for some' >&2; exit 1");
        using var runner = Start(other, Here, RunnerProcess.ProgramPath, "--messages", "1");

        var result = await runner.EndAsync();

        using (Assert.EnterMultipleScope())
        {
            Assert.That(result.ExitCode, Is.EqualTo(ExitCode.Failure), result.Output);
            Assert.That(result.Errors, Is.EqualTo(
                $"error: The build in {other} failed with exit code 1: no wind today\n  → wait for some\n"));
        }
    }

    [Test]
    [Exhaustive]
    public async Task A_build_that_cannot_take_turns_is_said_to_be_too_old()
    {
        IgnoreOutsideLinux();
        var other = MakeBuild("for word; do shift; [ \"$word\" = --in-turns ] && word=--no-such-option; set -- \"$@\" \"$word\"; done\n" + RealRunner);
        using var runner = Start(Here, other, RunnerProcess.ProgramPath, "--messages", "1");

        var result = await runner.EndAsync();

        using (Assert.EnterMultipleScope())
        {
            Assert.That(result.ExitCode, Is.EqualTo(ExitCode.Failure), result.Output);
            Assert.That(result.Errors, Does.StartWith($"error: The build in {other} failed with exit code 2: unknown option").And.Contain(
                "  → Use a newer commit: "));
        }
    }

    [Test]
    [Exhaustive]
    public async Task A_build_that_ends_between_two_rounds_leaves_a_report_over_finished_pairs()
    {
        IgnoreOutsideLinux();
        var before = await Server.DatabasesAsync();
        var pid = Path.Combine(Parent.Path, "pid");
        var other = MakeBuild($"echo $$ >'{pid}'\n" + RealRunner);
        using var runner = Start(Here, other, RunnerProcess.ProgramPath, "--messages", "1000", "--rounds", "50");
        await runner.PrintedAsync("1 of 50: ");

        Process.GetProcessById(int.Parse(await File.ReadAllTextAsync(pid), CultureInfo.InvariantCulture)).Kill();
        var result = await runner.EndAsync();

        using (Assert.EnterMultipleScope())
        {
            Assert.That(result.ExitCode, Is.EqualTo(ExitCode.Failure), result.Output);
            Assert.That(result.Errors, Does.StartWith($"error: The build in {other} failed with exit code 137: "));
            Assert.That(
                await File.ReadAllTextAsync(Path.Combine(Folder, ComparePlan.ReportFile)), Does.Contain("- INCOMPLETE: ").And.Contain("exit code 137"));
            Assert.That(RunFolder.Open(Path.Combine(Folder, "before")).Load().Rounds, Is.Not.Empty);
            Assert.That(await Server.DatabasesAsync(), Is.EqualTo(before), "What the killed build left is removed.");
        }
    }

    [Test]
    public async Task A_folder_that_holds_a_comparison_is_not_written_over()
    {
        Directory.CreateDirectory(Folder);
        await File.WriteAllTextAsync(Path.Combine(Folder, ComparePlan.ReportFile), "kept");
        using var runner = Start(Here, Here, RunnerProcess.ProgramPath);

        var result = await runner.EndAsync();

        using (Assert.EnterMultipleScope())
        {
            Assert.That(result.ExitCode, Is.EqualTo(ExitCode.Failure));
            Assert.That(result.Errors, Does.StartWith($"error: The folder {Folder} already contains a comparison: ").And.Contain("--out"));
            Assert.That(Directory.GetFileSystemEntries(Folder), Has.Length.EqualTo(1));
        }
    }

    private static string Here { get; } = Path.TrimEndingDirectorySeparator(AppContext.BaseDirectory);

    private static void IgnoreOutsideLinux()
    {
        if (!OperatingSystem.IsLinux())
            Assert.Ignore("Programs are made by sh, and signals are sent.");
    }

    /// <summary>A folder with a runner that is a script.</summary>
    private string MakeBuild(string script)
    {
        var folder = Directory.CreateDirectory(Path.Combine(Parent.Path, "build")).FullName;
        var program = Path.Combine(folder, ExternalProgram.FileNameOf("Kit.Runner"));
        File.Copy(Path.Combine(Here, "Kit.Runner.dll"), Path.Combine(folder, "Kit.Runner.dll"));
        File.WriteAllText(program, $"#!/bin/sh\n{script.Replace("{0}", RunnerProcess.ProgramPath, StringComparison.Ordinal)}\n");
        if (!OperatingSystem.IsWindows())
            File.SetUnixFileMode(program, UnixFileMode.UserRead | UnixFileMode.UserExecute);
        return folder;
    }

    private RunnerProcess Start(string before, string after, params string[] programAndMore)
    {
        var more = programAndMore.SkipWhile(word => !word.StartsWith('-')).ToList();
        var program = programAndMore.SkipLast(more.Count).ToList();
        return RunnerProcess.Start(
            new Dictionary<string, string> { [ConnectionStrings.PostgreSqlVariable] = Server.ConnectionString },
            program[0],
            [
                .. program.Skip(1), "compare", "--build", before, "--build", after,
                "--framework", "bare", "--transport", "postgresql", "--mode", "scope-off", "--warmup", "5",
                "--seed-rows", "10", "--out", Folder, .. more,
            ]);
    }

    private string Everything() =>
        string.Concat(Directory.GetFiles(Parent.Path, "*", SearchOption.AllDirectories).Select(File.ReadAllText));
}
