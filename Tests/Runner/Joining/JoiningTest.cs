using Kit.Runner.Results;
using Kit.Tests.CommandLine;
using Kit.Tests.Rounds;

namespace Kit.Tests.Joining;

/// <summary>Runs and their workers, on a server that nobody else has: a worker joins any run on it.</summary>
public abstract class JoiningTest : OnAServerOfItsOwn
{
    protected const int Messages = 400;

    protected string Folder => Path.Combine(Parent.Path, "run");

    /// <summary>A run whose test was ignored half-way is still there for the next worker.</summary>
    [TearDown]
    public async Task RemoveRuns()
    {
        foreach (var database in (await Server.DatabasesAsync()).Where(name => name.EndsWith("_workers", StringComparison.Ordinal)))
            await Server.ExecuteAsync($"DROP DATABASE \"{database}\" WITH (FORCE)");
    }

    protected private RunnerProcess StartRun(params IEnumerable<string> options) => RunnerProcess.Start(
    [
        "run", "--framework", "bare", "--access", "ado", "--warmup", "40", "--seed-rows", "100", "--no-repeat",
        "--postgresql", Server.ConnectionString, "--out", Folder, .. options,
    ]);

    protected private RunnerProcess StartWorker(params IEnumerable<string> options) =>
        RunnerProcess.Start(["worker", "--join", Server.ConnectionString, .. options]);

    protected private async Task<NamedServer> DatabaseOfTheWorkersAsync() =>
        Server.In((await Server.DatabasesAsync()).Single(name => name.EndsWith("_workers", StringComparison.Ordinal)));

    protected private RecordedRun Measured() => RunFolder.Open(Folder).Load();

    protected private async Task NothingIsLeftAsync() =>
        Assert.That(await Server.DatabasesAsync(), Has.None.StartsWith("kit_"));
}
