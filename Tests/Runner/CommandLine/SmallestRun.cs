using Kit.Runner.Results;
using Kit.Tests.Rounds;

namespace Kit.Tests.CommandLine;

[Parallelizable]
public sealed class SmallestRun
{
    [Test]
    public async Task One_message_without_warm_up_and_seeded_rows_is_a_run()
    {
        var server = await NamedServer.GetAsync();
        using var parent = new TemporaryFolder();

        var result = await RunnerProcess.RunAsync(
            "run", "--framework", "bare", "--transport", "postgresql", "--mode", "full-dtc,transactions-off",
            "--messages", "1", "--rounds", "1", "--warmup", "0", "--seed-rows", "0",
            "--postgresql", server.ConnectionString, "--out", parent.Path);

        Assert.That(result.ExitCode, Is.EqualTo(ExitCode.Success), result.Output + result.Errors);
        Assert.That(RunFolder.Open(parent.Path).Load().Rounds.Select(round => round.OffsetsMilliseconds.Count), Is.EqualTo([1, 1]));
    }
}
