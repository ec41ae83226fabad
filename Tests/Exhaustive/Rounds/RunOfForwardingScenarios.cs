using Kit.Endpoints.Cells;
using Kit.Guarantees;
using Kit.Handlers;
using Kit.Runner.Results;
using Kit.Tests.CommandLine;

namespace Kit.Tests.Exhaustive.Rounds;

/// <summary>Scenarios that insert no row, next to one that does, on servers of the kit's own.</summary>
[Parallelizable]
public sealed class RunOfForwardingScenarios
{
    private const int Messages = 100;

    private static readonly string Forwarding = string.Join(',', Scenario.All.Where(scenario => scenario.Rows == 0).Select(scenario => scenario.Name));

    private TemporaryFolder parent = null!;

    [SetUp]
    public void CreateFolder()
    {
        PostgreSqlServer.IgnoreWithoutPrograms();
        parent = new TemporaryFolder();
    }

    [TearDown]
    public void RemoveFolder() => parent?.Dispose();

    /// <summary>On a framework. The bare endpoint forwards on a broker in the tests of faults.</summary>
    [Test]
    public async Task On_a_broker_each_message_is_forwarded_once_with_what_it_must_have()
    {
        RabbitMqServer.IgnoreWithoutPrograms();

        var run = await RunAsync(
            "--framework", "masstransit", "--transport", "rabbitmq", "--mode", "dtc-off", "--scenario", Forwarding);

        Assert.That(run.Rounds, Has.Count.EqualTo(Scenario.All.Count(scenario => scenario.Rows == 0)));
        AssertForwarded(run.Rounds);
    }

    [Test]
    public async Task In_a_database_each_way_to_commit_a_send_forwards()
    {
        var run = await RunAsync(
            "--framework", "bare", "--transport", "postgresql", "--mode", "full-dtc,transactions-off,shared,outbox", "--scenario", "route,query");

        Assert.That(run.Rounds, Has.Count.EqualTo(4 * 2));
        AssertForwarded(run.Rounds);
    }

    [Test]
    public async Task The_clock_of_each_is_said_and_rates_by_two_clocks_are_not_compared()
    {
        var run = await RunAsync(
            "--framework", "bare", "--transport", "postgresql", "--mode", "dtc-off", "--scenario", "insert,pass", "--size", "id-alone,5120B");

        var csv = await File.ReadAllLinesAsync(Path.Combine(parent.Path, "run", "rounds.csv"));
        var passed = run.Cells.Where(cell => cell.Cell.On(Axis.Scenario.Name) == "pass").ToList();
        using (Assert.EnterMultipleScope())
        {
            Assert.That(run.Rounds, Has.Count.EqualTo(4));
            Assert.That(run.Rounds.Select(round => round.Outcome.IsValid()), Is.All.True);
            Assert.That(passed.Select(cell => cell.Clock), Is.EqualTo(Enumerable.Repeat(ClockSource.HandlerCompletions, 2)));
            Assert.That(passed.Select(run.AgainstDefault), Is.All.Null);
            Assert.That(run.Cells.Except(passed).Select(cell => cell.Clock), Is.All.EqualTo(ClockSource.CommitTimestamps));
            Assert.That(run.Cells.Except(passed).Select(run.AgainstDefault), Has.Exactly(1).Not.Null, "the larger inserts");
            Assert.That(csv, Has.Exactly(2).Contains(",commit timestamps,").And.Exactly(2).Contains(",handler completions,"));
            Assert.That(
                await File.ReadAllTextAsync(Path.Combine(parent.Path, "run", "tables.md")),
                Does.Contain("timed by handler completions, and other cells by commits: their rates are not compared."));
        }
    }

    [Test]
    public async Task Rows_that_are_not_seeded_cannot_be_looked_up()
    {
        var refused = await RunnerProcess.RunAsync("run", "--scenario", "query", "--seed-rows", "0");

        Assert.That(refused.ExitCode, Is.EqualTo(ExitCode.Usage));
        Assert.That(refused.Errors, Does.Contain("The scenario 'query' looks seeded rows up, and --seed-rows 0 seeds none."));
    }

    private async Task<RecordedRun> RunAsync(params string[] cells)
    {
        var folder = Path.Combine(parent.Path, "run");
        var result = await RunnerProcess.RunAsync(
            ["run", .. cells, "--messages", $"{Messages}", "--warmup", "20", "--seed-rows", "30", "--rounds", "1", "--no-repeat", "--out", folder]);
        Assert.That(result.ExitCode, Is.EqualTo(ExitCode.Success), result.Output + result.Errors);
        return RunFolder.Open(folder).Load();
    }

    private static void AssertForwarded(IReadOnlyList<RoundDocument> rounds)
    {
        using (Assert.EnterMultipleScope())
        {
            foreach (var round in rounds)
            {
                Assert.That(round.Outcome.IsValid(), $"{round.Cell}: {string.Join(", ", round.Outcome.Reasons)}");
                Assert.That(round.Accounts[DeliveryClass.Once], Is.EqualTo(Messages), $"{round.Cell}");
                Assert.That(round.Clock, Is.EqualTo(ClockSource.HandlerCompletions), $"{round.Cell}");
                Assert.That(round.OffsetsMilliseconds, Has.Count.EqualTo(Messages).And.Ordered.And.All.Positive, $"{round.Cell}");
            }
        }
    }
}
