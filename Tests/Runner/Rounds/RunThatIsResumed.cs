using System.Globalization;
using Kit.Runner.Results;
using Kit.Tests.CommandLine;

namespace Kit.Tests.Rounds;

/// <summary>A run that is killed and goes on in its folder.</summary>
[Parallelizable]
public sealed class RunThatIsResumed
{
    private const int Rounds = 3;
    private const int Kills = 4;

    private static readonly string[] Modes = ["scope-off", "shared"];

    private NamedServer server = null!;
    private TemporaryFolder complete = null!;
    private TemporaryFolder parent = null!;

    private string Folder => Path.Combine(parent.Path, "run");

    [OneTimeSetUp]
    public async Task CompleteAsync()
    {
        server = await NamedServer.GetAsync();
        complete = new TemporaryFolder();
        var result = await RunnerProcess.RunAsync(Measured(complete.Path, Modes[0], rounds: 2));
        Assert.That(result.ExitCode, Is.EqualTo(ExitCode.Success), result.Output + result.Errors);
    }

    [OneTimeTearDown]
    public void RemoveCompleteFolder() => complete?.Dispose();

    [SetUp]
    public void PrepareFolder() => parent = new TemporaryFolder();

    [TearDown]
    public void RemoveFolder() => parent?.Dispose();

    [Test]
    [Exhaustive]
    public async Task Killed_at_random_moments_it_has_the_rounds_of_an_undisturbed_one()
    {
        var seed = Random.Shared.Next();
        await TestContext.Progress.WriteLineAsync($"Seed of the kills: {seed}.");
        var random = new Random(seed);

        using (var first = RunnerProcess.Start(Measured()))
            await KillAsync(first, random);
        for (var kill = 1; kill < Kills; kill++)
        {
            using var next = RunnerProcess.Start(RunFolder.IsIn(Folder) ? Resumed() : Measured());
            await KillAsync(next, random);
        }

        var last = await RunnerProcess.RunAsync(RunFolder.IsIn(Folder) ? Resumed() : Measured());

        Assert.That(last.ExitCode, Is.EqualTo(ExitCode.Success), last.Output + last.Errors);
        var run = RunFolder.Open(Folder).Load();
        using (Assert.EnterMultipleScope())
        {
            Assert.That(run.Document.Ending, Is.EqualTo(RunEnding.Completed));
            Assert.That(run.RoundLeftOut, Is.Null);
            Assert.That(run.Rounds.Select(round => $"{round.Cell.Mode} {round.Round} {round.Attempt}"), Is.EquivalentTo(
                from mode in Modes from round in Enumerable.Range(1, Rounds) select $"{mode} {round} 1"));
            Assert.That(run.Rounds.All(round => round.Outcome.IsValid()));
            Assert.That(await File.ReadAllTextAsync(RunFolder.Open(Folder).ReportPath), Does.Contain("run --resume"));
            Assert.That(File.Exists(Path.Combine(Folder, FolderClaim.File)), Is.False);
        }
    }

    [Test]
    public async Task A_complete_one_is_left_alone()
    {
        CopyComplete();
        var before = await File.ReadAllBytesAsync(Path.Combine(Folder, RoundFiles.LinesFile));

        var again = await RunnerProcess.RunAsync(Resumed());

        using (Assert.EnterMultipleScope())
        {
            Assert.That(again.ExitCode, Is.EqualTo(ExitCode.Success), again.Errors);
            Assert.That(again.Output, Does.Contain("is complete: 2 rounds. Nothing was measured."));
            Assert.That(await File.ReadAllBytesAsync(Path.Combine(Folder, RoundFiles.LinesFile)), Is.EqualTo(before));
        }
    }

    [Test]
    public async Task A_failed_round_is_tried_again_if_asked_for()
    {
        CopyComplete();
        await ReplaceAsync(
            RoundFiles.LinesFile, "\"verdict\":\"valid\",\"reasons\":[]}", "\"verdict\":\"error\",\"reasons\":[\"tried\"]}");

        var left = await RunnerProcess.RunAsync(Resumed());
        var retried = await RunnerProcess.RunAsync([.. Resumed(), "--retry-failed"]);

        using (Assert.EnterMultipleScope())
        {
            Assert.That(left.ExitCode, Is.EqualTo(ExitCode.Failure), left.Errors);
            Assert.That(retried.ExitCode, Is.EqualTo(ExitCode.Success), retried.Output + retried.Errors);
            Assert.That(RunFolder.Open(Folder).Load().Rounds.Where(round => round.Attempt == 2).ToList(), Has.Count.EqualTo(1));
        }
    }

    [TestCase("\"fingerprint\": \"", "\"fingerprint\": \"0", "build, fingerprint: 0")]
    [TestCase("\"server_version\": \"", "\"server_version\": \"9", "server, server_version: 9")]
    [TestCase("\"cores\": ", "\"cores\": 9", "machine, cores: 9")]
    [TestCase("\"repeatsNoisy\": false,", "", "an earlier version of the kit made it")]
    public async Task One_of_another_build_server_or_machine_is_refused_with_the_difference(string stored, string other, string difference)
    {
        CopyComplete();
        await ReplaceAsync(RunFolder.RunFile, stored, other);
        await ReplaceAsync(RunFolder.RunFile, "\"state\": \"completed\"", "\"state\": \"stopped\"");
        var before = await File.ReadAllTextAsync(Path.Combine(Folder, RunFolder.RunFile));

        var refused = await RunnerProcess.RunAsync(Resumed());

        using (Assert.EnterMultipleScope())
        {
            Assert.That(refused.ExitCode, Is.EqualTo(ExitCode.Failure), refused.Output);
            Assert.That(refused.Errors, Does.Contain("cannot be resumed: ").And.Contain(difference));
            Assert.That(await File.ReadAllTextAsync(Path.Combine(Folder, RunFolder.RunFile)), Is.EqualTo(before));
        }
    }

    private static async Task KillAsync(RunnerProcess runner, Random random)
    {
        await Task.Delay(random.Next(1_000, 8_000));
        await runner.SignalAsync("KILL");
        await runner.EndAsync();
    }

    private void CopyComplete()
    {
        Directory.CreateDirectory(Folder);
        foreach (var file in Directory.GetFiles(complete.Path))
            File.Copy(file, Path.Combine(Folder, Path.GetFileName(file)));
    }

    private async Task ReplaceAsync(string file, string text, string other)
    {
        var path = Path.Combine(Folder, file);
        var content = await File.ReadAllTextAsync(path);
        var at = content.IndexOf(text, StringComparison.Ordinal);
        Assert.That(at, Is.Not.Negative, $"{file} has no {text}");
        await File.WriteAllTextAsync(path, content.Remove(at, text.Length).Insert(at, other));
    }

    private string[] Measured() => Measured(Folder, string.Join(',', Modes), Rounds);

    private string[] Measured(string folder, string modes, int rounds) =>
    [
        "run", "--framework", "bare", "--transport", "postgresql", "--mode", modes, "--messages", "100",
        "--rounds", rounds.ToString(CultureInfo.InvariantCulture), "--warmup", "0", "--seed-rows", "0", "--no-repeat",
        "--postgresql", server.ConnectionString, "--out", folder,
    ];

    private string[] Resumed() => ["run", "--resume", Folder, "--postgresql", server.ConnectionString];
}
