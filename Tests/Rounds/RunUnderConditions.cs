using Kit.Endpoints.Cells;
using Kit.Guarantees;
using Kit.Runner;
using Kit.Runner.Results;
using Kit.Tests.CommandLine;

namespace Kit.Tests.Rounds;

/// <summary>Every condition, in a mode that keeps the receive open while a handler runs and in one that does not.</summary>
[Parallelizable]
public sealed class RunUnderConditions : OnAServerOfItsOwn
{
    private const int Messages = 600;

    private TemporaryFolder parent = null!;
    private RunnerResult result = null!;
    private RecordedRun run = null!;
    private string server = null!;

    [OneTimeSetUp]
    public async Task Measure()
    {
        server = (await GetServerAsync()).ConnectionString;
        parent = new TemporaryFolder();
        var folder = Path.Combine(parent.Path, "run");
        result = await RunnerProcess.RunAsync(
            "run", "--framework", "bare", "--transport", "postgresql", "--mode", "dtc-off,transactions-off", "--condition", "all",
            "--messages", $"{Messages}", "--warmup", "20", "--seed-rows", "1000", "--rounds", "1", "--no-repeat", "--postgresql", server, "--out", folder);
        Assert.That(result.ExitCode, Is.EqualTo(ExitCode.Success), result.Output + result.Errors);
        run = RunFolder.Open(folder).Load();
    }

    [OneTimeTearDown]
    public void RemoveRun() => parent?.Dispose();

    [Test]
    public void Every_message_is_accounted_for_once()
    {
        using (Assert.EnterMultipleScope())
        {
            Assert.That(run.Rounds, Has.Count.EqualTo(2 * Condition.All.Count));
            foreach (var round in run.Rounds)
            {
                Assert.That(round.Outcome.IsValid(), $"{round.Cell}: {string.Join(", ", round.Outcome.Reasons)}");
                Assert.That(round.Accounts[DeliveryClass.Once], Is.EqualTo(Messages), $"{round.Cell}");
            }
        }
    }

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
        await using var source = Npgsql.NpgsqlDataSource.Create(server);
        await using var count = source.CreateCommand("SELECT count(*) FROM pg_prepared_xacts");

        Assert.That(await count.ExecuteScalarAsync(), Is.EqualTo(0L));
    }

    [Test]
    public async Task A_slow_handler_needs_a_second_worker()
    {
        var refused = await RunnerProcess.RunAsync(
            "run", "--condition", "slow-handler", "--concurrency", "1", "--out", Path.Combine(parent.Path, "none"));

        Assert.That(refused.ExitCode, Is.EqualTo(ExitCode.Usage));
        Assert.That(refused.Errors, Does.StartWith("error: The condition 'slow-handler' keeps one worker busy with one message"));
    }

    private double BuffersOf(string mode, string condition) =>
        run.Rounds.Single(round => round.Cell.Mode == mode && round.Cell.On("condition", run.Document.Implied) == condition).Costs.Buffers!.Value!.Value;
}
