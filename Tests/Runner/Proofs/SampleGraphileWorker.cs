using Kit.Guarantees;
using Kit.Prove.Files;
using Kit.Runner.Results;
using Kit.Runner.Results.Drains;
using Kit.Runner.Results.Points;
using Kit.Tests.CommandLine;

namespace Kit.Tests.Proofs;

/// <summary>The sample on graphile-worker, a job queue in Node that locks a job for four hours.</summary>
[Parallelizable]
[Exhaustive]
public sealed class SampleGraphileWorker
{
    [Test]
    public async Task A_job_of_a_dead_process_is_done_again_after_its_lease()
    {
        using var folder = new TemporaryFolder();
        await NodeSample.InstallAsync(folder, "GraphileWorker");
        await using var shared = new SharedProofServers();

        var results = await MetPoints.OfAsync(
            shared, ProofFileReader.Read(folder.Below("leased.proof.json")), point => point.Number <= 2, PointWay.Killed);

        var byPoint = results.All.OrderBy(result => result.Point.Number).ToList();
        Assert.That(byPoint.Select(result => result.Class), Is.EqualTo([DeliveryClass.Once, DeliveryClass.Duplicated]));
        Assert.That(byPoint.Select(result => result.IsAfterLease), Is.All.True);
    }

    [Test]
    public async Task A_job_of_a_dead_process_is_stuck_and_its_columns_show_its_lock()
    {
        using var folder = new TemporaryFolder();
        await NodeSample.InstallAsync(folder, "GraphileWorker");
        await using var shared = new SharedProofServers();

        var results = await MetPoints.OfAsync(
            shared, ProofFileReader.Read(folder.Below("leased.proof.json")) with { Later = [], Lease = null }, point => point.Number == 1, PointWay.Killed);

        var met = results.All.Single();
        Assert.That(met.Class, Is.EqualTo(DeliveryClass.Stuck));
        Assert.That(
            met.Violations.Single(violation => violation.StartsWith("work is left: ", StringComparison.Ordinal)),
            Does.Contain("its row in graphile_worker._private_jobs has changed since it was put in: ").And.Contain("locked_at null → ")
                .And.Contain("locked_by null → ").And.Contain("no session and no prepared transaction holds it"));
    }

    [Test]
    public async Task Its_speed_is_measured()
    {
        using var folder = new TemporaryFolder();
        await NodeSample.InstallAsync(folder, "GraphileWorker");

        var result = await RunnerProcess.ProveAsync(
            "drain", folder.Below("leased.proof.json"), "--messages", "200", "--warm-up", "20", "--rounds", "1", "--out", folder.Below("drain"));

        Assert.That(result.ExitCode, Is.EqualTo(ExitCode.Success), result.Output + result.Errors);
        Assert.That(new DrainFolder(folder.Below("drain")).LoadDocument().Rate?.Mean, Is.GreaterThan(1));
    }
}
