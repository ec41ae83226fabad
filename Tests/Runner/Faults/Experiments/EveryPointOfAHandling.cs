using System.Collections.Concurrent;
using Kit.Endpoints.Cells;
using Kit.Guarantees;
using Kit.Runner.Faults.Experiments;
using Kit.Runner.Faults.Points;
using Kit.Runner.Results;
using Kit.Runner.Results.Faults;
using Kit.Runner.Results.Points;
using Kit.Runner.Stage.Transports;

namespace Kit.Tests.Faults.Experiments;

/// <summary>
/// Some points of one cell, in two ways, on servers of its own. Those of others are exhaustive tests, and all of them <c>faults --every-point</c>.
/// </summary>
[Parallelizable]
public sealed class EveryPointOfAHandling
{
    private const int Tries = 3;

    [Test]
    public async Task Full_dtc_is_once_wherever_its_commits_are_met()
    {
        var (points, results) = await MeetAsync(
            "bare.postgresql.full-dtc.ado", point => point.Request.Outcome is "COMMIT" or "COMMIT PREPARED",
            PointWay.Killed, PointWay.Cut);

        AssertMet(points, results, ("data", "PREPARE TRANSACTION"), ("queue", "COMMIT"), ("data", "COMMIT PREPARED"));
        Assert.That(results.Select(result => result.Observed.Single().Class), Is.All.EqualTo(DeliveryClass.Once));
    }

    internal static async Task<(IReadOnlyList<CrashPoint> Points, IReadOnlyList<FaultResult> Results)> MeetAsync(
        string name, Func<CrashPoint, bool> chosen, params IReadOnlyList<PointWay> ways)
    {
        PostgreSqlServer.IgnoreWithoutPrograms();
        var cell = Cell.All.Single(one => one.Name == name);
        await using var servers = await ServersInUse.StartAsync(Transport.NeededBy([Transport.Of(cell)]), CancellationToken.None);
        var every = new EveryPoint(cell, servers);
        var points = (await RecordAsync(every)).Points;
        foreach (var point in points)
            TestContext.Out.WriteLine($"{point.Number}: {point.Request}");

        var results = new ConcurrentQueue<FaultResult>();
        await every.MakeAsync(
            EveryPoint.ExperimentsAt(cell, points, ways is [] ? PointWays.OfClient : ways).Where(experiment => chosen(experiment.Point)), results.Enqueue,
            CancellationToken.None);
        return (points, [.. results]);
    }

    /// <summary>A message whose cell got an answer too late was disturbed by the machine, and not by anybody: then they are recorded again.</summary>
    private static async Task<RecordedPoints> RecordAsync(EveryPoint every)
    {
        for (var attempt = 1; ; attempt++)
        {
            try
            {
                return await every.RecordAsync(CancellationToken.None);
            }
            catch (KitException busy) when (attempt < Tries)
            {
                await TestContext.Out.WriteLineAsync(busy.Message);
            }
        }
    }

    /// <summary>All experiments met their points, with promised results, and these requests are points.</summary>
    internal static void AssertMet(IReadOnlyList<CrashPoint> points, IReadOnlyList<FaultResult> results, params (string Server, string Outcome)[] among)
    {
        foreach (var result in results)
            TestContext.Out.WriteLine($"{result.Name} {result.Verdict} {string.Join(' ', result.Observed)} {result.Because}: {result.Point!.Moment}");
        Assert.That(points.Select(point => (point.Request.Server, point.Request.Outcome)), Is.SupersetOf(among));
        Assert.That(results, Is.Not.Empty);
        Assert.That(results.Select(result => result.Verdict), Is.All.EqualTo(FaultVerdict.Kept));
    }

    internal static DeliveryClass ClassOf(IEnumerable<FaultResult> results, string server, PointWay way) =>
        results.Single(result => result.Point!.Way == way && result.Point.Moment.Contains($"({server}", StringComparison.Ordinal)).Observed[0].Class;
}
