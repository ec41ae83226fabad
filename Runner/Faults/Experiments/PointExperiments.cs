using System.Diagnostics;
using Kit.Runner.Faults.Points;
using Kit.Runner.Results.Faults;

namespace Kit.Runner.Faults.Experiments;

/// <summary>One point, met in one way.</summary>
/// <param name="Point">The point.</param>
/// <param name="Way">What happens there.</param>
/// <param name="Token">The experiment's name.</param>
/// <param name="All">All points of the handling, in their order.</param>
internal sealed record PointExperiment(CrashPoint Point, PointWay Way, PointToken Token, IReadOnlyList<CrashPoint> All)
{
    /// <summary>The experiments at these points, in the ways in which the servers live.</summary>
    /// <inheritdoc cref="At(string, IReadOnlyList{CrashPoint}, IReadOnlyList{PointWay})" path="/param"/>
    public static IEnumerable<PointExperiment> At(string of, IReadOnlyList<CrashPoint> points) => At(of, points, PointWays.OfClient);

    /// <summary>The experiments at these points.</summary>
    /// <param name="of">What was recorded, as tokens name it.</param>
    /// <param name="points">All its points, in their order.</param>
    /// <param name="ways">The ways to meet them.</param>
    public static IEnumerable<PointExperiment> At(string of, IReadOnlyList<CrashPoint> points, IReadOnlyList<PointWay> ways) =>
        from point in points
        from way in point.WaysAmong(ways)
        select new PointExperiment(point, way, new PointToken(of, point.Number, way), points);
}

/// <summary>Records undisturbed handlings, and then meets each of their points in each way, at several subjects at the same time.</summary>
/// <typeparam name="TAccount">What is known about the subject's messages.</typeparam>
/// <param name="promises">What is promised to its messages.</param>
/// <param name="open">Sets up a subject whose requests pass through the gate.</param>
internal sealed class PointExperiments<TAccount>(PointPromises<TAccount> promises, Func<RequestGate, CancellationToken, Task<ISubject<TAccount>>> open)
    where TAccount : class
{
    /// <summary>Crashes a server, named as in requests, and starts it again; returns the evidence. Without it, no server can crash.</summary>
    public Func<string, CancellationToken, Task<string>> CrashServer { get; init; } =
        (server, _) => throw new NotSupportedException($"The server '{server}' is not made to crash.");

    private const int Recordings = 3;

    /// <summary>A poll at the wrong moment changes a handling: it is tried again.</summary>
    private const int Tries = 3;

    /// <summary>The points of an undisturbed handling.</summary>
    /// <exception cref="Results.KitException">
    /// An undisturbed message is not handled, or in a transaction that was open before it came.
    /// </exception>
    public async Task<RecordedPoints> RecordAsync(CancellationToken cancellationToken)
    {
        await using var lane = await OpenAsync(cancellationToken);
        var idle = await lane.RecordIdleAsync(cancellationToken);
        var handlings = new List<Handling>();
        for (var recording = 0; recording < Recordings; recording++)
            handlings.Add(await lane.RecordAsync(idle, cancellationToken));
        return RecordedPoints.Of(handlings);
    }

    /// <summary>Makes experiments until there is none left.</summary>
    /// <param name="atOnce">How many at the same time.</param>
    /// <param name="next">Gives the next one; <see langword="null"/>: there is none. Called by several threads.</param>
    /// <param name="judge">Judges what became of it.</param>
    /// <param name="isClean">Whether the next message may meet what this one left behind. If not, it gets a fresh subject.</param>
    /// <param name="save">Receives each result. Called by several threads.</param>
    /// <param name="cancellationToken">Stops it.</param>
    /// <typeparam name="TResult">A judgement.</typeparam>
    public Task MakeAsync<TResult>(
        int atOnce, Func<PointExperiment?> next, Func<PointExperiment, PointOutcome<TAccount>, TResult> judge, Func<TResult, bool> isClean,
        Action<TResult> save, CancellationToken cancellationToken) =>
        Task.WhenAll(Enumerable.Range(0, atOnce).Select(_ => WorkAsync(next, judge, isClean, save, cancellationToken)));

    private async Task WorkAsync<TResult>(
        Func<PointExperiment?> next, Func<PointExperiment, PointOutcome<TAccount>, TResult> judge, Func<TResult, bool> isClean,
        Action<TResult> save, CancellationToken cancellationToken)
    {
        PointLane<TAccount>? lane = null;
        try
        {
            while (next() is { } experiment)
            {
                cancellationToken.ThrowIfCancellationRequested();
                TResult result = default!;
                for (var tried = 0; tried < Tries; tried++)
                {
                    lane ??= await OpenAsync(cancellationToken);
                    var outcome = await MeetAsync(lane, experiment, cancellationToken);
                    result = judge(experiment, outcome);
                    if (!isClean(result) || outcome.LeavesWork)
                    {
                        var used = lane;
                        // One that cannot be disposed of is not disposed of again.
                        lane = null;
                        await used.DisposeAsync();
                    }

                    // One that met its point is kept as it is, also if it did not settle afterwards.
                    if (outcome.Account is not null)
                        break;
                }

                save(result);
            }
        }
        finally
        {
            if (lane is not null)
                await lane.DisposeAsync();
        }
    }

    private async Task<PointLane<TAccount>> OpenAsync(CancellationToken cancellationToken)
    {
        var gate = new RequestGate();
        return new PointLane<TAccount>(gate, await open(gate, cancellationToken), promises, CrashServer);
    }

    private static async Task<PointOutcome<TAccount>> MeetAsync(
        PointLane<TAccount> lane, PointExperiment experiment, CancellationToken cancellationToken)
    {
        var watch = Stopwatch.StartNew();
        try
        {
            return await lane.MeetAsync(experiment, cancellationToken) with { Seconds = watch.Elapsed.TotalSeconds };
        }
        catch (Exception failure) when (!cancellationToken.IsCancellationRequested)
        {
            return new PointOutcome<TAccount>(failure.Message) { HasFailed = true, Seconds = watch.Elapsed.TotalSeconds };
        }
    }
}
