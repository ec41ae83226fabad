using Kit.Endpoints.Cells;
using Kit.Guarantees;
using Kit.Runner.Results.Points;
using static Kit.Tests.Faults.Experiments.EveryPointOfAHandling;

namespace Kit.Tests.Exhaustive.Faults;

/// <summary>Points of the handlings of three cells, on servers of their own.</summary>
[Parallelizable]
public sealed class PointsOfOtherCells
{
    [Test]
    public async Task Dtc_off_doubles_rows_after_its_commit_and_nowhere_before()
    {
        var (points, results) = await MeetAsync(
            "bare.postgresql.dtc-off.ado", point => point.Request.Text is "COMMIT", PointWay.NeverSent, PointWay.Killed, PointWay.Cut);

        AssertMet(points, results, ("data", "COMMIT"), ("queue", "COMMIT"));
        Assert.That(ClassOf(results, "data", PointWay.NeverSent), Is.EqualTo(DeliveryClass.Once));
        Assert.That(ClassOf(results, "data", PointWay.Killed), Is.EqualTo(DeliveryClass.Duplicated));
        Assert.That(ClassOf(results, "queue", PointWay.NeverSent), Is.EqualTo(DeliveryClass.Duplicated));
        Assert.That(ClassOf(results, "queue", PointWay.Killed), Is.EqualTo(DeliveryClass.Once));
    }

    [Test]
    public async Task On_a_broker_the_acknowledgement_is_proved_before_the_kill()
    {
        if (TestTransport.MissingServer(TransportName.RabbitMq) is { } missing)
            Assert.Ignore(missing);

        var (points, results) = await MeetAsync("bare.rabbitmq.dtc-off.ado", point => point.Request.Text is "basic.ack");

        AssertMet(points, results);
        Assert.That(points.Single(point => point.Request.Text is "basic.ack"), Has.Property("HasAnswer").False.And.Property("CanBeProved").True);
        Assert.That(ClassOf(results, "broker", PointWay.NeverSent), Is.EqualTo(DeliveryClass.Duplicated));
        Assert.That(ClassOf(results, "broker", PointWay.Killed), Is.EqualTo(DeliveryClass.Once));
        Assert.That(ClassOf(results, "broker", PointWay.Cut), Is.EqualTo(DeliveryClass.Once));
    }

    /// <summary>Finding 20. When this fails, a version of Wolverine may have mended it.</summary>
    [Test]
    public async Task Wolverine_drops_sends_while_its_connection_for_them_is_away()
    {
        if (TestTransport.MissingServer(TransportName.RabbitMq) is { } missing)
            Assert.Ignore(missing);

        var (_, results) = await MeetAsync(
            "wolverine.rabbitmq.scope-off.ado", point => point.Request.Text.StartsWith("basic.publish", StringComparison.Ordinal), PointWay.CutBefore);

        Assert.That(results.Single().Known, Does.Contain("its connection for sends is away"));
    }

    /// <summary>What is executed and not flushed is gone after a crash of the server: where a kill doubles the rows, this does not.</summary>
    [Test]
    public async Task A_crash_of_the_server_takes_back_a_commit_that_nobody_waited_for()
    {
        var (points, results) = await MeetAsync(
            "bare.postgresql.dtc-off.ado.last", point => point.Request is { Text: "COMMIT", Server: "data" },
            PointWay.ServerCrashedBefore, PointWay.ServerCrashedAfter);

        AssertMet(points, results);
        Assert.That(results.Select(result => result.Observed.Single().Class), Is.EqualTo(new[] { DeliveryClass.Once, DeliveryClass.Once }));
        foreach (var result in results)
        {
            Assert.That(result.Fired, Has.Some.StartsWith("every process of the database server"));
            Assert.That(
                result.Evidence.Count(line => line.StartsWith("attempt", StringComparison.Ordinal)), Is.GreaterThan(1),
                "it was handled again: a session that the crash ended can take it once more");
        }
    }
}
