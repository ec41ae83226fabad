using System.Diagnostics;
using Kit.Runner.Results;
using Kit.Runner.Results.Points;
using Kit.Runner.Wire;

namespace Kit.Runner.Faults.Points;

/// <summary>One point, met in one way.</summary>
/// <param name="Way">The event at the point.</param>
/// <param name="All">All points of the handling, in their order.</param>
internal sealed record PointExperiment(CrashPoint Point, PointWay Way, PointToken Token, IReadOnlyList<CrashPoint> All)
{
    /// <summary>The experiments at these points, in the ways in which the servers live.</summary>
    /// <inheritdoc cref="At(string, IReadOnlyList{CrashPoint}, IReadOnlyList{PointWay})" path="/param"/>
    public static IEnumerable<PointExperiment> At(string of, IReadOnlyList<CrashPoint> points) => At(of, points, PointWays.OfClient);

    /// <summary>The experiments at these points.</summary>
    /// <param name="of">The recorded cell or application, as tokens name it.</param>
    /// <param name="points">All points, in their order.</param>
    public static IEnumerable<PointExperiment> At(string of, IReadOnlyList<CrashPoint> points, IReadOnlyList<PointWay> ways) =>
        from point in points
        from way in point.WaysAmong(ways)
        select new PointExperiment(point, way, new PointToken(of, point.Number, way), points);

    /// <summary>The place and the time of the point.</summary>
    public PointFacts Facts() => new($"{Token}", Point.Number, Way, PointMoment.Of(Point, Way));

    /// <summary>The place and the time of the point, by the outcome.</summary>
    public PointFacts Facts<TAccount>(PointOutcome<TAccount> outcome)
        where TAccount : class =>
        outcome.IsMet ? Facts()
        : outcome.IsWithoutFault ? Facts() with { Moment = $"{(outcome.HasOwnEnd ? "no fault of the kit" : "no crash")}: {outcome.Because}" }
        : Facts() with { Moment = $"the process was killed at another moment, or ended: {outcome.Because}", IsElsewhere = true };
}

/// <summary>Records undisturbed handlings, and then meets each of their points in each way, at several subjects at the same time.</summary>
/// <typeparam name="TAccount">The knowledge about the subject's messages.</typeparam>
/// <param name="open">Sets up a subject whose requests pass through the gate.</param>
internal sealed class PointExperiments<TAccount>(PointPromises<TAccount> promises, Func<RequestGate, CancellationToken, Task<ISubject<TAccount>>> open)
    where TAccount : class
{
    /// <summary>Crashes a server, named as in requests, and starts it again; returns the evidence. Without it, no server can crash.</summary>
    public Func<string, CancellationToken, Task<string>> CrashServer { get; init; } =
        (server, _) => throw new NotSupportedException($"The server '{server}' is not made to crash.");

    /// <summary>Called right before the message of each experiment in which a server crashes.</summary>
    public Func<CancellationToken, Task> BeforeCrash { get; init; } = _ => Task.CompletedTask;

    public PointWaits Waits { get; init; } = new();

    /// <summary>A poll at the wrong moment changes a handling: it is tried again.</summary>
    private const int Tries = 3;

    /// <summary>The points of an undisturbed handling.</summary>
    /// <exception cref="KitException">
    /// An undisturbed message is not handled, or is handled in a transaction that was open before it came.
    /// </exception>
    public async Task<RecordedPoints> RecordAsync(CancellationToken cancellationToken)
    {
        await using var lane = await OpenAsync(cancellationToken);
        var idle = await lane.RecordIdleAsync(cancellationToken);
        var handlings = new List<Handling>();
        do
            handlings.Add(await lane.RecordAsync(idle, cancellationToken));
        while (!RecordedPoints.AreEnough(handlings));
        return RecordedPoints.Of(handlings, idle.Late);
    }

    /// <summary>Makes experiments until there is none left.</summary>
    /// <param name="next">Gives the next one; <see langword="null"/>: there is none. Called by several threads.</param>
    /// <param name="save">Receives each result. Called by several threads.</param>
    /// <typeparam name="TResult">A judgement.</typeparam>
    public Task MakeAsync<TResult>(
        int atOnce, Func<PointExperiment?> next, Func<PointExperiment, PointOutcome<TAccount>, TResult> judge, Action<TResult> save,
        CancellationToken cancellationToken)
        where TResult : IPointResult =>
        Task.WhenAll(Enumerable.Range(0, atOnce).Select(_ => WorkAsync(next, judge, save, cancellationToken)));

    private async Task WorkAsync<TResult>(
        Func<PointExperiment?> next, Func<PointExperiment, PointOutcome<TAccount>, TResult> judge, Action<TResult> save,
        CancellationToken cancellationToken)
        where TResult : IPointResult
    {
        PointLane<TAccount>? lane = null;
        try
        {
            while (next() is { } experiment)
            {
                cancellationToken.ThrowIfCancellationRequested();
                var watch = Stopwatch.StartNew();
                List<string> discarded = [];
                bool isFinal;
                do
                {
                    lane ??= await OpenAsync(cancellationToken);
                    var outcome = await MeetAsync(lane, experiment, cancellationToken) with
                    {
                        Seconds = watch.Elapsed.TotalSeconds,
                        Discarded = [.. discarded],
                    };
                    var result = judge(experiment, outcome);
                    // One that met its point stays as it is, also if it did not settle, or failed, afterwards. What broke a promise does, too, whatever it
                    // met. Work that is left where no fault was can be the subject's: another try must not hide it.
                    discarded.Add($"{result.Because ?? outcome.Because}");
                    isFinal = outcome.IsMet || outcome.HasFailedAfterwards || outcome.IsUnsettledWithoutFault || result.Verdict is FaultVerdict.Broken
                        || discarded.Count == Tries;
                    // A subject that cannot be disposed of, or a kill meanwhile, does not change what it has shown.
                    if (isFinal)
                        save(result);
                    // The next message must not meet what this one left behind.
                    if (result.Verdict is not FaultVerdict.Kept || outcome.LeavesWork)
                    {
                        var used = lane;
                        // One that cannot be disposed of is not disposed of again.
                        lane = null;
                        await used.DisposeAsync();
                    }
                }
                while (!isFinal);
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
        return new PointLane<TAccount>(gate, await open(gate, cancellationToken), promises, Waits, BeforeCrash, CrashServer);
    }

    private static async Task<PointOutcome<TAccount>> MeetAsync(
        PointLane<TAccount> lane, PointExperiment experiment, CancellationToken cancellationToken)
    {
        try
        {
            return await lane.MeetAsync(experiment, cancellationToken);
        }
        catch (Exception failure) when (!cancellationToken.IsCancellationRequested)
        {
            return new PointOutcome<TAccount>(KitException.MessageOf(failure)) { HasFailed = true, HasFailedAfterwards = lane.HasMet };
        }
    }
}
