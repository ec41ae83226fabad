using Kit.Runner.Results;
using Kit.Tests.CommandLine;

namespace Kit.Tests.Exhaustive.Rounds;

/// <summary>Handlers that are built once, and for each message, on servers of the kit's own.</summary>
[Parallelizable]
public sealed class RunOfReuse
{
    private TemporaryFolder parent = null!;

    [SetUp]
    public void CreateFolder()
    {
        PostgreSqlServer.IgnoreWithoutPrograms();
        parent = new TemporaryFolder();
    }

    [TearDown]
    public void RemoveFolder() => parent?.Dispose();

    [TestCase("postgresql", "full-dtc,dtc-off,transactions-off,outbox", "insert-and-send", 4)]
    [TestCase("rabbitmq", "dtc-off,outbox", "query", 2)]
    public async Task A_mode_keeps_its_promise_either_way(string transport, string modes, string scenario, int count)
    {
        if (transport is "rabbitmq")
            RabbitMqServer.IgnoreWithoutPrograms();

        var run = await RunAsync("--transport", transport, "--mode", modes, "--scenario", scenario, "--reuse", "static,dynamic");

        Assert.That(run.Rounds, Has.Count.EqualTo(count * 2));
        using (Assert.EnterMultipleScope())
        {
            foreach (var round in run.Rounds)
                Assert.That(round.Outcome.IsValid(), $"{round.Cell}: {string.Join(", ", round.Outcome.Reasons)}");
        }
    }

    [Test]
    public async Task Where_nothing_can_be_built_for_each_message_the_reason_is_said()
    {
        var run = await RunAsync("--transport", "postgresql", "--mode", "shared,dtc-off", "--reuse", "dynamic");

        Assert.That(
            run.Document.LeftOut.Single(left => left.Cell.Mode == "shared").Because,
            Is.EqualTo("in shared a handler works on the connection of the receive, which the endpoint keeps"));
    }

    private async Task<RecordedRun> RunAsync(params string[] typed)
    {
        var folder = Path.Combine(parent.Path, "run");
        var result = await RunnerProcess.RunAsync(
        [
            "run", "--framework", "bare", .. typed, "--rounds", "1", "--messages", "40", "--warmup", "5", "--seed-rows", "100", "--no-repeat", "--out", folder,
        ]);
        Assert.That(result.ExitCode, Is.EqualTo(ExitCode.Success), result.Output + result.Errors);
        return RunFolder.Open(folder).Load();
    }
}
