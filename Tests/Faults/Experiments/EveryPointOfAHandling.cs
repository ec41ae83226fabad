using System.Collections.Concurrent;
using Kit.Endpoints.Cells;
using Kit.Guarantees;
using Kit.Runner.Faults.Experiments;
using Kit.Runner.Results.Faults;
using Kit.Runner.Transports;

namespace Kit.Tests.Faults.Experiments;

/// <summary>
/// Some points of the handlings of three cells, on servers of their own. All points, and the other cells, are left to <c>faults --every-point</c>.
/// </summary>
[Category("faults")]
[Parallelizable]
public sealed class EveryPointOfAHandling
{
    [TestCase(2, ExpectedResult = DeliveryClass.Once)]
    [TestCase(3, ExpectedResult = DeliveryClass.Duplicated)]
    [TestCase(1, ExpectedResult = DeliveryClass.Torn)]
    [TestCase(0, ExpectedResult = DeliveryClass.Lost)]
    public DeliveryClass Rows_of_an_earlier_message_that_change_have_a_class(int now) => new ChangedRows(Guid.Empty, Before: 1, now).ClassOf(inserts: 2);

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
    public async Task Full_dtc_is_once_wherever_its_commits_are_met()
    {
        var (points, results) = await MeetAsync(
            "bare.postgresql.full-dtc.ado", point => point.Request.Outcome is "COMMIT" or "PREPARE TRANSACTION" or "COMMIT PREPARED");

        AssertMet(points, results, ("data", "PREPARE TRANSACTION"), ("queue", "COMMIT"), ("data", "COMMIT PREPARED"));
        Assert.That(results.Select(result => result.Observed.Single().Class), Is.All.EqualTo(DeliveryClass.Once));
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

    private static async Task<(IReadOnlyList<CrashPoint> Points, IReadOnlyList<FaultResult> Results)> MeetAsync(
        string name, Func<CrashPoint, bool> chosen, params IReadOnlyList<PointWay> ways)
    {
        PostgreSqlServer.IgnoreWithoutPrograms();
        var cell = Cell.All.Single(one => one.Name == name);
        await using var servers = await RunServers.StartAsync(Transport.NeededBy([Transport.Of(cell)]), CancellationToken.None);
        var every = new EveryPoint(cell, servers);
        var points = (await every.RecordAsync(CancellationToken.None)).Points;
        foreach (var point in points)
            TestContext.Out.WriteLine($"{point.Number}: {point.Request}");

        var results = new ConcurrentQueue<FaultResult>();
        await every.MakeAsync(
            EveryPoint.ExperimentsAt(cell, points, ways is [] ? PointWays.OfClient : ways).Where(experiment => chosen(experiment.Point)), results.Enqueue,
            CancellationToken.None);
        return (points, [.. results]);
    }

    /// <summary>All experiments met their points, with promised results, and these requests are points.</summary>
    private static void AssertMet(IReadOnlyList<CrashPoint> points, IReadOnlyList<FaultResult> results, params (string Server, string Outcome)[] among)
    {
        foreach (var result in results)
            TestContext.Out.WriteLine($"{result.Name} {result.Verdict} {string.Join(' ', result.Observed)} {result.Because}: {result.Point!.Moment}");
        Assert.That(points.Select(point => (point.Request.Server, point.Request.Outcome)), Is.SupersetOf(among));
        Assert.That(results, Is.Not.Empty);
        Assert.That(results.Select(result => result.Verdict), Is.All.EqualTo(FaultVerdict.Kept));
    }

    private static DeliveryClass ClassOf(IEnumerable<FaultResult> results, string server, PointWay way) =>
        results.Single(result => result.Point!.Way == way && result.Point.Moment.Contains($"({server}", StringComparison.Ordinal)).Observed[0].Class;
}
