using Kit.Endpoints.Cells;
using Kit.Runner.Results;
using Kit.Tests.CommandLine;
using Kit.Tests.Rounds;

namespace Kit.Tests.Exhaustive.Rounds;

/// <summary>Every condition, in a mode that keeps the receive open while a handler runs and in one that does not.</summary>
[Parallelizable]
public sealed class RunUnderConditions : MeasuredRun
{
    protected override IEnumerable<string> Cells =>
        ["--framework", "bare", "--transport", "postgresql", "--mode", "dtc-off,transactions-off", "--condition", "all"];

    protected override int CellCount => 2 * Condition.All.Count;

    protected override int Messages => 1200;

    [Test]
    public void What_cannot_be_removed_is_looked_at_again_and_again()
    {
        using (Assert.EnterMultipleScope())
        {
            foreach (var mode in new[] { "dtc-off", "transactions-off" })
                Assert.That(BuffersOf(mode, "prepared-transaction"), Is.GreaterThan(1.2 * BuffersOf(mode, "plain")), mode);

            Assert.That(BuffersOf("dtc-off", "slow-handler"), Is.GreaterThan(1.2 * BuffersOf("dtc-off", "plain")));
            Assert.That(BuffersOf("transactions-off", "slow-handler"), Is.LessThan(1.2 * BuffersOf("transactions-off", "plain")), "it has no transaction open");
        }
    }

    [Test]
    public async Task Nothing_stays_prepared()
    {
        await using var source = Npgsql.NpgsqlDataSource.Create(MeasuredOn.ConnectionString);
        await using var count = source.CreateCommand("SELECT count(*) FROM pg_prepared_xacts");

        Assert.That(await count.ExecuteScalarAsync(), Is.EqualTo(0L));
    }

    [Test]
    public async Task A_slow_handler_needs_a_second_worker()
    {
        var refused = await RunnerProcess.RunAsync("run", "--condition", "slow-handler", "--concurrency", "1", "--out", PathOf("none"));

        Assert.That(refused.ExitCode, Is.EqualTo(ExitCode.Usage));
        Assert.That(refused.Errors, Does.StartWith("error: The condition 'slow-handler' keeps one worker busy with one message"));
    }

    private double BuffersOf(string mode, string condition) =>
        Run.Rounds.Single(round => round.Cell.Mode == mode && round.Cell.On(Axis.Condition.Name, Run.Document.Implied) == condition)
            .Costs.Buffers!.Value!.Value;
}
