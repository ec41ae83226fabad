using Kit.Runner.Results;
using Kit.Runner.Servers;
using Kit.Tests.CommandLine;

namespace Kit.Tests.Rounds;

/// <summary>A run with a server of the kit's own that is stopped in its second round.</summary>
[Parallelizable]
public sealed class RunThatIsStopped
{
    // So many take minutes: however late a signal comes, the run goes on.
    private const int Many = 50;

    private TemporaryFolder parent = null!;
    private ProcessIdentity handler = null!;
    private ProcessIdentity postmaster = null!;

    private ServersOfARunner Servers => new(parent);

    private string Folder => Path.Combine(parent.Path, "run");

    [SetUp]
    public void Prepare()
    {
        if (!OperatingSystem.IsLinux())
            Assert.Ignore("Processes are looked up in /proc.");
        PostgreSqlServer.IgnoreWithoutPrograms();
        parent = new TemporaryFolder();
    }

    [TearDown]
    public void RemoveFolder() => parent?.Dispose();

    [TestCase("INT", false, Category = ExhaustiveAttribute.Category)]
    [TestCase("INT", true, Description = "Ctrl+C on a terminal goes to the whole process group.")]
    [TestCase("TERM", false, Category = ExhaustiveAttribute.Category)]
    [TestCase("TERM", true, Category = ExhaustiveAttribute.Category)]
    public async Task By_a_signal_it_keeps_finished_rounds_and_leaves_nothing_behind(string signal, bool toGroup)
    {
        using var runner = await StartAsync(Many);
        await runner.SignalAsync(signal, toGroup);
        var result = await runner.EndAsync();

        await Eventually.HoldsAsync(() => handler.HasEnded && postmaster.HasEnded, "the handler process and the server end");
        var report = await RunnerProcess.RunAsync("report", Folder);
        // Others can end before the signal comes.
        var kept = RunFolder.Open(Folder).Load().Rounds;
        using (Assert.EnterMultipleScope())
        {
            Assert.That(result.ExitCode, Is.EqualTo(ExitCode.Interrupted), result.Errors);
            Assert.That(
                result.Output, Does.Contain($"Stopped. Finished rounds: {kept.Count}, kept in {Folder}; see them with: report {Folder}"));
            Assert.That(result.Errors, Is.Empty);
            Assert.That(Servers.Folders, Is.Empty);
            Assert.That(report.ExitCode, Is.EqualTo(ExitCode.Success), report.Errors);
            Assert.That(report.Output, Does.Contain("Ending: stopped: interrupted").And.Contain("server_version"));
            Assert.That(kept, Has.Count.InRange(1, Many - 1));
            Assert.That(kept.All(round => round.Outcome.IsValid()), Is.True);
        }
    }

    [Test]
    [Exhaustive]
    public async Task By_a_kill_its_server_is_removed_by_the_next_run()
    {
        using var runner = await StartAsync(Many);
        await runner.SignalAsync("KILL");
        await runner.EndAsync();
        await Eventually.HoldsAsync(() => handler.HasEnded, "the handler process ends with its runner");
        Assert.That(Servers.Folders, Has.Length.EqualTo(1));
        Assert.That(postmaster.HasEnded, Is.False);

        using var next = Start(Path.Combine(parent.Path, "next"), rounds: 1, messages: 1, RunnerProcess.ProgramPath);
        var result = await next.EndAsync();

        await Eventually.HoldsAsync(() => postmaster.HasEnded, "the server left behind ends");
        using (Assert.EnterMultipleScope())
        {
            Assert.That(result.ExitCode, Is.EqualTo(ExitCode.Success), result.Errors);
            Assert.That(Servers.Folders, Is.Empty);
            Assert.That(RunFolder.Open(Folder).Load().Rounds, Has.Count.InRange(1, Many - 1));
        }
    }

    [Test]
    [Exhaustive]
    public async Task By_the_end_of_its_server_it_says_so_and_is_resumed()
    {
        using var runner = await StartAsync(rounds: 3);
        Assert.That((await ChildProcesses.SignalAsync("KILL", $"{postmaster.Id}")).Succeeded);
        var result = await runner.EndAsync();
        var kept = RunFolder.Open(Folder).Load();

        using var next = RunnerProcess.Start(Servers.Environment, RunnerProcess.ProgramPath, ["run", "--resume", Folder]);
        var resumed = await next.EndAsync();

        using (Assert.EnterMultipleScope())
        {
            Assert.That(result.ExitCode, Is.EqualTo(ExitCode.Failure));
            Assert.That(result.Errors, Does.Contain("PostgreSQL has ended: the kit had started a PostgreSQL server of its own, and did not stop it."));
            Assert.That(result.Errors, Does.Contain($"Finished rounds are kept; go on with: run --resume {Folder}"));
            Assert.That(kept.Rounds.Where(round => round.Outcome.IsValid()).ToList(), Has.Count.InRange(1, 2));
            Assert.That(resumed.ExitCode, Is.EqualTo(ExitCode.Success), resumed.Output + resumed.Errors);
            Assert.That(RunFolder.Open(Folder).Load().Rounds.Count(round => round.Outcome.IsValid()), Is.EqualTo(3));
            Assert.That(Servers.Folders, Is.Empty);
        }
    }

    [Test]
    public async Task While_its_server_starts_it_leaves_nothing_behind()
    {
        // No round of so many messages ends before the signal comes.
        using var runner = Start(Folder, rounds: 1, messages: 100_000, "setsid", RunnerProcess.ProgramPath);
        await runner.PrintedAsync("Starting a PostgreSQL server");
        await Eventually.HoldsAsync(() => Servers.Folders.Length == 1, "the server has a folder");
        await runner.SignalAsync("INT", toGroup: true);
        var result = await runner.EndAsync();

        using (Assert.EnterMultipleScope())
        {
            Assert.That(result.ExitCode, Is.EqualTo(ExitCode.Interrupted), result.Errors);
            Assert.That(result.Output, Does.Contain($"Stopped before any round had finished. Removed the empty {Folder}."));
            Assert.That(Folder, Does.Not.Exist);
            Assert.That(Servers.Folders, Is.Empty);
        }
    }

    // A session of its own, as a shell gives each command line a process group of its own.
    private async Task<RunnerProcess> StartAsync(int rounds)
    {
        var runner = Start(Folder, rounds, messages: 2_000, "setsid", RunnerProcess.ProgramPath);
        await runner.PrintedAsync($"1 of {rounds}: ");
        handler = await runner.HandlerAsync();
        postmaster = Servers.Postmaster;
        return runner;
    }

    private RunnerProcess Start(string folder, int rounds, int messages, params string[] program) => RunnerProcess.Start(
        Servers.Environment,
        program[0],
        [
            .. program[1..],
            "run", "--framework", "bare", "--transport", "postgresql", "--mode", "scope-off", "--messages", $"{messages}", "--rounds", $"{rounds}",
            "--warmup", "10", "--seed-rows", "10", "--no-repeat",
            "--out", folder,
        ]);
}
