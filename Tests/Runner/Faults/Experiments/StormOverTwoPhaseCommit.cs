using Kit.Endpoints.Cells;
using Kit.Guarantees;
using Kit.Runner.Faults.Experiments;
using Kit.Runner.Results.Points;
using Kit.Runner.Stage.Transports;

namespace Kit.Tests.Faults.Experiments;

/// <summary>Kills and cuts at random moments of a drain in <c>full-dtc</c>. The other cells are left to <c>faults --storm</c>.</summary>
[Parallelizable]
public sealed class StormOverTwoPhaseCommit
{
    private const int Seed = 1;

    [Test]
    public async Task Every_message_has_its_effect_once_and_nothing_is_left_prepared()
    {
        PostgreSqlServer.IgnoreWithoutPrograms();
        var cell = Cell.All.Single(one => one.Name == "bare.postgresql.full-dtc.ado");
        await using var servers = await ServersInUse.StartAsync([Transport.Of(cell)], CancellationToken.None);

        var result = await new Storm(
            cell,
            servers,
            new StormPlan(Kills: 2, Cuts: 1, Seed) { FewestMessages = 600 },
            TestContext.Progress.WriteLine).RunAsync(CancellationToken.None);

        using (Assert.EnterMultipleScope())
        {
            Assert.That(
                result.Verdict,
                Is.EqualTo(FaultVerdict.Kept),
                () => $"{result.Because} {string.Join('\n', result.Violations.Select(violation => violation.Because))}");
            Assert.That(result.Counts[DeliveryClass.Once], Is.EqualTo(result.Messages));
            Assert.That((result.Storm!.Seed, result.Storm.Kills, result.Storm.Cuts, result.Storm.InFlight), Is.EqualTo((Seed, 2, 1, 6)));
            Assert.That((result.Storm.Touched, result.Storm.MostTouched), Is.EqualTo((0, 0)));
            Assert.That(result.Storm.RestartMilliseconds, Has.Count.EqualTo(2).And.Ordered.And.All.Positive);
            Assert.That(result.Fired[^1], Does.StartWith("windows met ("));
        }
    }
}
