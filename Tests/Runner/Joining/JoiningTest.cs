using Kit.Runner.Results;
using Kit.Tests.CommandLine;
using Kit.Tests.Rounds;

namespace Kit.Tests.Joining;

/// <summary>Runs and their workers, on a server that nobody else has: a worker joins any run on it.</summary>
public abstract class JoiningTest : OnAServerOfItsOwn
{
    /// <summary>So many that each of two processes handles some, though one of them may begin seconds later.</summary>
    protected const int Messages = 4_000;

    protected string Folder => Path.Combine(Parent.Path, "run");

    protected private RunnerProcess StartRun(params IEnumerable<string> options) => RunnerProcess.Start(
    [
        "run", "--framework", "bare", "--access", "ado", "--warmup", "40", "--seed-rows", "100", "--no-repeat",
        "--postgresql", Server.ConnectionString, "--out", Folder, .. options,
    ]);

    protected private RunnerProcess StartWorker(params IEnumerable<string> options) =>
        RunnerProcess.Start(["worker", "--join", Server.ConnectionString, .. options]);

    protected private RecordedRun Measured() => RunFolder.Open(Folder).Load();

    protected private async Task NothingIsLeftAsync() =>
        Assert.That(await Server.DatabasesAsync(), Has.None.StartsWith("kit_"));
}
