using System.Collections.Concurrent;
using Kit.Guarantees;
using Kit.Prove.Crashes;
using Kit.Prove.Files;
using Kit.Prove.Service;
using Kit.Runner.Faults.Points;
using Kit.Runner.Results.Points;
using Kit.Runner.Results.Proofs;

namespace Kit.Tests.Proofs;

/// <summary>What became of the messages of an application whose handling was met at chosen points.</summary>
/// <param name="All">One result for each point and way.</param>
internal sealed record MetPoints(IReadOnlyList<ProofResult> All)
{
    /// <summary>The waits for a worker that is a shell script: it starts in a moment, and polls all the time.</summary>
    public static PointWaits OfAShellScript { get; } = new() { Idle = TimeSpan.FromSeconds(2), Quiet = TimeSpan.FromSeconds(5) };

    public static Task<MetPoints> OfAsync(
        SharedProofServers shared, ProofFile file, Func<CrashPoint, bool> chosen, params IReadOnlyList<PointWay> ways) =>
        OfAsync(shared, file, new PointWaits(), chosen, ways);

    public static async Task<MetPoints> OfAsync(
        SharedProofServers shared, ProofFile file, PointWaits waits, Func<CrashPoint, bool> chosen, params IReadOnlyList<PointWay> ways)
    {
        var servers = await shared.GetAsync(file);
        await new Trial(file, servers, _ => { }) { Before = TimeSpan.FromSeconds(0.3) }.RunAsync(CancellationToken.None);
        var judge = new ProofJudge(file) { Waits = waits };
        var experiments = judge.ExperimentsOn(servers);
        var points = (await experiments.RecordAsync(CancellationToken.None)).Points;
        foreach (var point in points)
            TestContext.Out.WriteLine($"{point.Number}: {point.Request}");

        var todo = new ConcurrentQueue<PointExperiment>(
            PointExperiment.At(file.Name, points, ways).Where(experiment => chosen(experiment.Point)));
        Assert.That(todo, Is.Not.Empty, "no recorded request is one of those that the test is about");
        var results = new ConcurrentBag<ProofResult>();
        await experiments.MakeAsync(
            file.Instances, () => todo.TryDequeue(out var next) ? next : null, judge.Judge, results.Add, CancellationToken.None);
        foreach (var result in results)
        {
            TestContext.Out.WriteLine($"{result.Point.Token} {result.Verdict} {result.Class} {result.Because}: {result.Point.Moment}");
            foreach (var line in TimelineStep.LinesOf(result.Timeline))
                TestContext.Out.WriteLine(line);
        }

        return new MetPoints([.. results]);
    }

    /// <param name="moment">How the moment begins.</param>
    /// <param name="way">What happened there.</param>
    public DeliveryClass? ClassOf(string moment, PointWay way) =>
        All.Single(result => result.Point.Way == way && result.Point.Moment.StartsWith(moment, StringComparison.Ordinal)).Class;
}
