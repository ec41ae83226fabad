using Kit.Runner.Results;
using Kit.Tests.CommandLine;

namespace Kit.Tests.Rounds;

/// <summary>Somebody builds the clone again while a run goes on: the processes of its later rounds would be of the new build.</summary>
[Parallelizable]
[Exhaustive]
public sealed class RunOfABuildThatIsReplaced
{
    [Test]
    public async Task Counts_no_round_of_the_other_build()
    {
        var server = await NamedServer.GetAsync();
        using var folder = new TemporaryFolder();
        var program = folder.Below("program");
        foreach (var file in Directory.EnumerateFiles(AppContext.BaseDirectory, "*", SearchOption.AllDirectories))
        {
            var copy = Path.Combine(program, Path.GetRelativePath(AppContext.BaseDirectory, file));
            Directory.CreateDirectory(Path.GetDirectoryName(copy)!);
            File.Copy(file, copy);
        }

        using var runner = RunnerProcess.Start(
            new Dictionary<string, string> { ["KIT_POSTGRESQL"] = server.ConnectionString },
            Path.Combine(program, Path.GetFileName(RunnerProcess.ProgramPath)),
            [
                "run", "--framework", "bare", "--transport", "postgresql", "--mode", "scope-off", "--messages", "400", "--rounds", "5", "--no-repeat",
                "--warmup", "10", "--seed-rows", "1000", "--out", folder.Below("run"),
            ]);
        await runner.PrintedAsync("1 of 5: ");

        // As a build does it: a file that is in use stays what it was, under another name.
        var assembly = Path.Combine(program, "Kit.Handlers.dll");
        File.Copy(assembly, assembly + ".new");
        await File.AppendAllTextAsync(assembly + ".new", "another build");
        File.Move(assembly + ".new", assembly, overwrite: true);
        var result = await runner.EndAsync();

        Assert.That(result.ExitCode, Is.EqualTo(ExitCode.Failure), result.Output);
        Assert.That(
            result.Output,
            Does.Contain("round 5: error, not in the averages: The program was built anew while it ran").And.Contain("git worktree add"));
    }
}
