using Kit.Runner.Results;
using Kit.Tests.CommandLine;

namespace Kit.Tests.Exhaustive.Rounds;

/// <summary>A run on a machine where somebody else, here these tests, keeps a processor busy.</summary>
public sealed class RunBesideABusyProcess
{
    [Test]
    public async Task Noisy_rounds_are_run_once_more_and_both_are_kept()
    {
        if (!OperatingSystem.IsLinux())
            Assert.Ignore("Other processes' load is measured on Linux.");
        PostgreSqlServer.IgnoreWithoutPrograms();
        using var parent = new TemporaryFolder();
        using var enough = new CancellationTokenSource();
        var busy = Task.Factory.StartNew(() => Spin(enough.Token), CancellationToken.None, TaskCreationOptions.LongRunning, TaskScheduler.Default);

        var result = await RunnerProcess.RunAsync(
            "run", "--framework", "bare", "--transport", "postgresql", "--mode", "transactions-off", "--messages", "400",
            "--rounds", "2", "--warmup", "10", "--seed-rows", "0",
            "--out", parent.Path);
        await enough.CancelAsync();
        await busy;

        var rounds = RunFolder.Open(parent.Path).Load().Rounds;
        using (Assert.EnterMultipleScope())
        {
            Assert.That(result.ExitCode, Is.EqualTo(ExitCode.Success), result.Output + result.Errors);
            Assert.That(rounds.Select(round => (round.Round, round.Attempt)), Is.EquivalentTo(new[] { (1, 1), (2, 1), (1, 2), (2, 2) }));
            Assert.That(rounds.Select(round => round.Noise.OtherCpuShare.Value), Is.All.GreaterThan(Noise.DefaultLimit));
            Assert.That(
                rounds.SelectMany(round => round.Costs.Named()).Where(cost => cost.Name != "two-phase commits").Select(cost => cost.Reading.Value),
                Is.All.Positive);
            Assert.That(
                result.Output,
                Does.Contain("Noisy rounds: 2; they are repeated.").And.Contain("4 of 4: bare/postgresql/transactions-off/ado, round 2 again: "));
        }
    }

    private static void Spin(CancellationToken cancellationToken)
    {
        while (!cancellationToken.IsCancellationRequested)
            Thread.SpinWait(1_000);
    }
}
