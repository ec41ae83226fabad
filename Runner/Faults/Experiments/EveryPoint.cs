using System.Collections.Concurrent;
using System.Diagnostics;
using Kit.Endpoints.Cells;
using Kit.Guarantees;
using Kit.Runner.Faults.Points;
using Kit.Runner.Results.Accounts;
using Kit.Runner.Results.Faults;
using Kit.Runner.Rounds;
using Kit.Runner.Transports;

namespace Kit.Runner.Faults.Experiments;

/// <summary>Every point of one cell's handling: it records undisturbed handlings, and then meets each of their points in each way.</summary>
internal sealed class EveryPoint(Cell cell, RunServers servers)
{
    /// <summary>Experiments that run at the same time: they mostly wait.</summary>
    private const int AtOnce = 4;

    private const int Recordings = 3;

    /// <summary>A poll at the wrong moment changes a handling: it is tried again.</summary>
    private const int Tries = 3;

    private const int MostViolations = 5;

    private readonly StormPromise promise = FaultPromise.Always(cell.Mode, Transport.Of(cell).IsBroker);

    /// <summary>The experiments at these points of a cell.</summary>
    public static IEnumerable<(CrashPoint Point, PointWay Way, PointToken Token)> ExperimentsAt(Cell cell, IEnumerable<CrashPoint> points) =>
        from point in points
        from way in point.Ways
        select (point, way, new PointToken(PointCells.NameOf(cell), point.Number, way));

    /// <summary>The points of an undisturbed handling.</summary>
    public async Task<IReadOnlyList<CrashPoint>> RecordAsync(CancellationToken cancellationToken)
    {
        await using var lane = await PointLane.OpenAsync(cell, servers, cancellationToken);
        var idle = await lane.RecordIdleAsync(cancellationToken);
        var handlings = new List<Handling>();
        for (var recording = 0; recording < Recordings; recording++)
            handlings.Add(await lane.RecordAsync(idle, cancellationToken));
        return Handling.PointsOf(handlings);
    }

    /// <summary>Makes the experiments.</summary>
    public Task MakeAsync(
        IEnumerable<(CrashPoint Point, PointWay Way, PointToken Token)> experiments, Action<FaultResult> save, CancellationToken cancellationToken)
    {
        var todo = new ConcurrentQueue<(CrashPoint Point, PointWay Way, PointToken Token)>(experiments);
        return Task.WhenAll(Enumerable.Range(0, Math.Min(AtOnce, todo.Count)).Select(_ => WorkAsync(todo, save, cancellationToken)));
    }

    private async Task WorkAsync(
        ConcurrentQueue<(CrashPoint Point, PointWay Way, PointToken Token)> todo, Action<FaultResult> save, CancellationToken cancellationToken)
    {
        PointLane? lane = null;
        try
        {
            while (todo.TryDequeue(out var one))
            {
                cancellationToken.ThrowIfCancellationRequested();
                FaultResult result = null!;
                for (var tried = 0; tried < Tries; tried++)
                {
                    lane ??= await PointLane.OpenAsync(cell, servers, cancellationToken);
                    result = await MakeAsync(lane, one.Point, one.Way, one.Token, cancellationToken);
                    // What one message left behind must not meet the next.
                    if (result.Verdict is not FaultVerdict.Kept)
                    {
                        await lane.DisposeAsync();
                        lane = null;
                    }

                    // One that met its point is kept as it is, also if it did not settle afterwards.
                    if (result.Observed.Count > 0)
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

    private async Task<FaultResult> MakeAsync(PointLane lane, CrashPoint point, PointWay way, PointToken token, CancellationToken cancellationToken)
    {
        var watch = Stopwatch.StartNew();
        var blank = new FaultResult
        {
            Cell = Provenance.NameOf(cell),
            Fault = $"{token}"[token.Of.Length..],
            Verdict = FaultVerdict.Failed,
            Point = new PointFacts($"{token}", point.Number, way, PointWays.MomentOf(point, way)),
            Promised = [.. promise.Classes.Order()],
        };
        try
        {
            var outcome = await lane.MeetAsync(point, way, cancellationToken);
            return Judge(blank with { Fired = outcome.Fired, Seconds = watch.Elapsed.TotalSeconds }, outcome);
        }
        catch (Exception failure) when (!cancellationToken.IsCancellationRequested)
        {
            return blank with { Because = failure.Message, Seconds = watch.Elapsed.TotalSeconds };
        }
    }

    /// <summary>
    /// What is promised to the messages after the one that met the point: once. A process that lives can have a session that is about to end, and a broker
    /// pushes them to it.
    /// </summary>
    private IReadOnlySet<DeliveryClass> PromisedAfter(PointWay way) => !way.Kills() && promise.Reach is (Reach.Pushed or Reach.Unbounded)
        ? promise.Classes
        : new HashSet<DeliveryClass> { DeliveryClass.Once };

    private FaultResult Judge(FaultResult blank, PointOutcome outcome)
    {
        if (outcome.Account is not { } account)
            return blank with { Verdict = FaultVerdict.Void, Because = outcome.Because };

        var known = KnownLimit.Of(cell.Kind.Framework, cell.Kind.Transport, cell.Mode, fault: null, Affected.Chosen);
        List<Violation> violations =
        [
            .. account.ViolationsOf(promise.Classes, known).Where(violation => violation.MessageId == outcome.Chosen),
            .. account.ViolationsOf(PromisedAfter(blank.Point!.Way)).Where(violation => violation.MessageId is { } id
                ? id != outcome.Chosen
                : !promise.Classes.Contains(DeliveryClass.InDoubt)),
        ];
        var met = account.Verdicts.Single(verdict => verdict.MessageId == outcome.Chosen);
        return blank with
        {
            Verdict = outcome.Because is not null ? FaultVerdict.Void : violations.Count > 0 ? FaultVerdict.Broken : FaultVerdict.Kept,
            Because = outcome.Because,
            Observed = [.. met.Also.Prepend(met.Class).Order().Select(kind => new Observation(kind, 1))],
            Counts = account.Counts,
            Evidence = met.Evidence,
            Violations = [.. violations.Take(MostViolations)],
            ViolationCount = violations.Count,
        };
    }
}
