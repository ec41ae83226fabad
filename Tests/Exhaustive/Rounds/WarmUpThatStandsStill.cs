using Kit.Runner.Results;
using Kit.Runner.Servers;
using Kit.Tests.CommandLine;

namespace Kit.Tests.Exhaustive.Rounds;

/// <summary>The handler process stands still in its warm-up for longer than a drain waits on the clock: what it has left must not be drained there.</summary>
[Parallelizable]
public sealed class WarmUpThatStandsStill
{
    // A command of the driver can time out meanwhile: only a mode without doubles has each message once.
    private static readonly TimeSpan LongerThanADrainWaits = TimeSpan.FromSeconds(34);

    [Test]
    public async Task Is_waited_for()
    {
        if (!OperatingSystem.IsLinux())
            Assert.Ignore("Processes are looked up in /proc.");
        PostgreSqlServer.IgnoreWithoutPrograms();
        using var parent = new TemporaryFolder();
        var folder = Path.Combine(parent.Path, "run");
        using var runner = RunnerProcess.Start(
            "run", "--framework", "bare", "--transport", "postgresql", "--mode", "shared", "--messages", "100", "--warmup", "20000", "--seed-rows", "10",
            "--rounds", "1", "--no-repeat", "--out", folder);
        var handler = await runner.HandlerAsync();
        // It connects, and begins to handle 20,000 messages.
        await Task.Delay(TimeSpan.FromSeconds(3));
        await SignalAsync("STOP", handler);
        await Task.Delay(LongerThanADrainWaits);
        await SignalAsync("CONT", handler);

        var result = await runner.EndAsync();

        var round = RunFolder.Open(folder).Load().Rounds.Single();
        Assert.That(result.ExitCode, Is.EqualTo(ExitCode.Success), result.Output + result.Errors);
        Assert.That((round.Outcome.Verdict, round.Handled, round.HandlerEntries), Is.EqualTo((Verdict.Valid, 100, 100)));
    }

    private static async Task SignalAsync(string signal, ProcessIdentity process) =>
        Assert.That((await ChildProcesses.SignalAsync(signal, $"{process.Id}")).Succeeded);
}
