using Kit.Handlers;
using Kit.Runner.Results;
using Kit.Tests.CommandLine;
using Kit.Tests.Rounds;

namespace Kit.Tests.Exhaustive.Rounds;

/// <summary>Every scenario that writes rows, in a mode that sends with its commit, one that sends after it and one that sends by itself.</summary>
[Parallelizable]
public sealed class RunOfScenarios : MeasuredRun
{
    private static readonly IReadOnlyList<string> Writing = [.. Scenario.All.Where(scenario => scenario.Rows > 0).Select(scenario => scenario.Name)];

    protected override IEnumerable<string> Cells =>
    [
        "--framework", "bare", "--transport", "postgresql", "--mode", "full-dtc,outbox,transactions-off", "--scenario", string.Join(',', Writing),
        "--access", "ado",
    ];

    protected override int CellCount => 3 * Writing.Count;

    protected override int Messages => 100;

    [Test]
    public void The_scenario_that_is_implied_is_left_out_of_names_and_said_in_columns()
    {
        var csv = File.ReadAllLines(PathOf("run", "rounds.csv"));
        using (Assert.EnterMultipleScope())
        {
            Assert.That(Run.Rounds.Select(round => $"{round.Cell}"), Contains.Item("bare/postgresql/outbox/ado").And.Contains(
                "bare/postgresql/outbox/ado/upsert"));
            Assert.That(csv[0], Does.StartWith("framework,transport,mode,access,scenario,"));
            Assert.That(csv, Has.Exactly(3).Contains(",ado,insert,").And.Exactly(3).Contains(",ado,update-one-row,"));
        }
    }

    [Test]
    public async Task A_scenario_has_the_baselines_access_alone()
    {
        var refused = await RunnerProcess.RunAsync("run", "--access", "dapper", "--scenario", "upsert", "--out", PathOf("none"));

        Assert.That(refused.ExitCode, Is.EqualTo(ExitCode.Usage));
        Assert.That(refused.Errors, Does.StartWith("error: There is no such cell"));
    }
}
