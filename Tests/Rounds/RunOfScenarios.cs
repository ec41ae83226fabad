using Kit.Guarantees;
using Kit.Handlers;
using Kit.Runner;
using Kit.Runner.Results;
using Kit.Tests.CommandLine;

namespace Kit.Tests.Rounds;

/// <summary>Every scenario in a mode that sends with its commit, one that sends after it and one that sends by itself.</summary>
[Parallelizable]
public sealed class RunOfScenarios : OnAServerOfItsOwn
{
    private const int Messages = 100;

    private TemporaryFolder parent = null!;
    private RunnerResult result = null!;
    private RecordedRun run = null!;

    [OneTimeSetUp]
    public async Task Measure()
    {
        var server = await GetServerAsync();
        parent = new TemporaryFolder();
        var folder = Path.Combine(parent.Path, "run");
        result = await RunnerProcess.RunAsync(
            "run", "--transport", "postgresql", "--mode", "full-dtc,outbox,transactions-off", "--scenario", "all", "--access", "ado",
            "--messages", $"{Messages}", "--warmup", "20", "--seed-rows", "1000", "--rounds", "1", "--no-repeat",
            "--postgresql", server.ConnectionString, "--out", folder);
        Assert.That(result.ExitCode, Is.EqualTo(ExitCode.Success), result.Output + result.Errors);
        run = RunFolder.Open(folder).Load();
    }

    [OneTimeTearDown]
    public void RemoveRun() => parent?.Dispose();

    [Test]
    public void Every_message_of_every_scenario_is_accounted_for_once()
    {
        using (Assert.EnterMultipleScope())
        {
            Assert.That(run.Rounds, Has.Count.EqualTo(3 * Scenario.All.Count));
            foreach (var round in run.Rounds)
            {
                Assert.That(round.Outcome.IsValid(), $"{round.Cell}: {string.Join(", ", round.Outcome.Reasons)}");
                Assert.That(round.Accounts[DeliveryClass.Once], Is.EqualTo(Messages), $"{round.Cell}");
            }
        }
    }

    [Test]
    public void The_scenario_that_is_implied_is_left_out_of_names_and_said_in_columns()
    {
        var csv = File.ReadAllLines(Path.Combine(parent.Path, "run", "rounds.csv"));
        using (Assert.EnterMultipleScope())
        {
            Assert.That(run.Rounds.Select(round => $"{round.Cell}"), Contains.Item("bare/postgresql/outbox/ado").And.Contains(
                "bare/postgresql/outbox/ado/upsert"));
            Assert.That(csv[0], Does.StartWith("framework,transport,mode,access,scenario,"));
            Assert.That(csv, Has.Exactly(3).Contains(",ado,insert,").And.Exactly(3).Contains(",ado,update-one-row,"));
        }
    }

    [Test]
    public async Task A_scenario_has_the_baselines_access_alone()
    {
        var refused = await RunnerProcess.RunAsync("run", "--access", "dapper", "--scenario", "upsert", "--out", Path.Combine(parent.Path, "none"));

        Assert.That(refused.ExitCode, Is.EqualTo(ExitCode.Usage));
        Assert.That(refused.Errors, Does.StartWith("error: There is no such cell"));
    }
}
