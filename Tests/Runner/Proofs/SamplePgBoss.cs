using Kit.Guarantees;
using Kit.Prove.Files;
using Kit.Runner.Results.Points;

namespace Kit.Tests.Proofs;

/// <summary>The sample on pg-boss, a job queue in Node that leases a job for 15 minutes.</summary>
[Parallelizable]
[Exhaustive]
public sealed class SamplePgBoss
{
    [Test]
    public async Task A_kill_between_the_row_and_the_end_of_its_job_doubles_the_row()
    {
        using var folder = new TemporaryFolder();
        await NodeSample.InstallAsync(folder, "PgBoss");
        await using var shared = new SharedProofServers();

        var results = await MetPoints.OfAsync(
            shared, ProofFileReader.Read(folder.Below("pg-boss.proof.json")), point => point.Request.Text.StartsWith("INSERT", StringComparison.Ordinal),
            PointWay.NeverSent, PointWay.Killed);

        Assert.That(results.ClassOf("INSERT INTO placed_order", PointWay.NeverSent), Is.EqualTo(DeliveryClass.Once));
        Assert.That(results.ClassOf("INSERT INTO placed_order", PointWay.Killed), Is.EqualTo(DeliveryClass.Duplicated));
        Assert.That(results.All.Select(result => result.IsAfterLease), Is.All.True);
    }
}
