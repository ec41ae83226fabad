using System.Collections.Concurrent;
using Kit.Endpoints.Cells;
using Kit.Guarantees;
using Kit.Runner.Faults.Points;
using Kit.Runner.Faults.Testbeds;
using Kit.Runner.Results.Accounts;
using Kit.Runner.Results.Faults;
using Kit.Runner.Results.Points;
using Kit.Runner.Stage;
using Kit.Runner.Stage.Transports;

namespace Kit.Runner.Faults.Experiments;

/// <summary>Every point of one cell's handling: it records undisturbed handlings, and then meets each of their points in each way.</summary>
internal sealed class EveryPoint(Cell cell, ServersInUse servers)
{
    /// <summary>Experiments that run at the same time: they mostly wait.</summary>
    private const int AtOnce = 4;

    /// <summary>The shape of the handler. The commands leave it as it is; only tests draw other handlers.</summary>
    public HandlerShape Shape { get; init; } = HandlerShape.OfExperiments;

    /// <summary>The promise by which each message is judged. The commands leave it as it is; a test sets one that the mode does not keep.</summary>
    public StormPromise Promise { get; init; } = FaultPromise.Always(cell.Mode, Transport.Of(cell).IsBroker);

    private PointExperiments<CellAccount> Experiments => field ??= new(Promises, (gate, stop) => CellSubject.OpenAsync(cell, servers, Shape, gate, stop))
    {
        BeforeCrash = stop => Task.WhenAll(servers.DatabasesOf(cell).Select(server => server.DelayFlushesAsync(stop))),
        // Not cancelled half-way: what was made on the server is removed from it at the end.
        CrashServer = (server, _) => ServerOf(server).KillAsync(CancellationToken.None),
    };

    private PointPromises<CellAccount> Promises => new(
        Promise.Classes,
        account => account.Account.ViolationsOf(PromisedUndisturbed)
            .FirstOrDefault(violation => violation.MessageId is not null) is { } violation ? $"one is not as promised: {violation.Because}" : null,
        account => account.Account.Verdicts.Any(message => message.Is(DeliveryClass.Stuck) || message.Flags.HasFlag(VerdictFlags.Prepared)));

    /// <summary>The promise to a message that no fault disturbs. A handler that throws disturbs its own.</summary>
    private IReadOnlySet<DeliveryClass> PromisedUndisturbed => Shape.ThrowsAtFirst ? Promise.Classes : PointVerdict.PromisedUndisturbed;

    /// <summary>True if nobody recovers transactions that a crash leaves prepared. They can block a later message.</summary>
    private bool LeavesBranches => Promise.Classes.Contains(DeliveryClass.InDoubt);

    /// <summary>The promise to a message that is sent when nothing moves any more.</summary>
    private IReadOnlySet<DeliveryClass> PromisedLate =>
        LeavesBranches ? PromisedUndisturbed.Append(DeliveryClass.Stuck).ToHashSet() : PromisedUndisturbed;

    private ServerInUse ServerOf(string server) => server switch
    {
        Testbed.Broker or Testbed.Queue => servers.Of(cell),
        Testbed.Data or Testbed.Both => servers.WidgetsOf(cell),
        _ => throw new ArgumentOutOfRangeException(nameof(server), server, "No request names such a server."),
    };

    /// <summary>The experiments at these points of a cell.</summary>
    public static IEnumerable<PointExperiment> ExperimentsAt(Cell cell, IReadOnlyList<CrashPoint> points, IReadOnlyList<PointWay> ways) =>
        PointExperiment.At(PointCells.NameOf(cell), points, ways);

    /// <inheritdoc cref="PointExperiments{TAccount}.RecordAsync"/>
    public Task<RecordedPoints> RecordAsync(CancellationToken cancellationToken) => Experiments.RecordAsync(cancellationToken);

    /// <summary>Makes the experiments. Those in which a server crashes come last, one at a time, because all share the server.</summary>
    public async Task MakeAsync(IEnumerable<PointExperiment> todo, Action<FaultResult> save, CancellationToken cancellationToken)
    {
        var byCrash = todo.ToLookup(experiment => experiment.Way.Facts().CrashesServer);
        await MakeAsync(byCrash[false], AtOnce, save, cancellationToken);
        await MakeAsync(byCrash[true], atOnce: 1, save, cancellationToken);
    }

    private Task MakeAsync(IEnumerable<PointExperiment> todo, int atOnce, Action<FaultResult> save, CancellationToken cancellationToken)
    {
        var waiting = new ConcurrentQueue<PointExperiment>(todo);
        return Experiments.MakeAsync(
            Math.Min(atOnce, waiting.Count), () => waiting.TryDequeue(out var next) ? next : null, Judge, save, cancellationToken);
    }

    /// <summary>
    /// The promise to messages that were sent at once after the one that met the point: as to later ones. But a process that lives can have a
    /// session that is about to end, and a broker pushes them to it. If the server crashed, all its sessions have ended, and the next message can get one
    /// of those.
    /// </summary>
    private IReadOnlySet<DeliveryClass> PromisedAfter(PointWay way) =>
        (!way.Facts().KillsProcess && (Transport.Of(cell).IsBroker || Promise.Reach is Reach.Unbounded))
        || (way.Facts().CrashesServer && Promise.Reach is Reach.HandledAndNext)
            ? Promise.Classes
            : PromisedLate;

    /// <summary>The verdict on an experiment: a function of its outcome.</summary>
    internal FaultResult Judge(PointExperiment experiment, PointOutcome<CellAccount> outcome)
    {
        var (_, way, token, _) = experiment;
        List<string> fired = [.. outcome.Events.Select(one => one.Text)];
        var blank = new FaultResult
        {
            Cell = Provenance.NameOf(cell),
            Fault = $"{token}"[token.Of.Length..],
            Verdict = outcome.HasFailed ? FaultVerdict.Failed : FaultVerdict.Void,
            Because = outcome.Because,
            Point = experiment.Facts(),
            Promised = [.. Promise.Classes.Order()],
            Fired = fired,
            Seconds = outcome.Seconds,
            Discarded = outcome.Discarded is [] ? null : outcome.Discarded,
        };
        if (outcome.Account is not ({ } account, var changed))
            return blank;

        IReadOnlySet<DeliveryClass> PromisedTo(Guid message) =>
            outcome.PromisedTo(message, Promise.Classes, PromisedAfter(way), PromisedLate, PromisedUndisturbed);

        IReadOnlyList<KnownLimit> LimitsOf(Guid message) => cell.Kind.Facts.LimitsAtAPoint(
            cell, message == outcome.Chosen ? Affected.Chosen : Affected.Bystander, way.Facts().KillsProcess);

        List<Violation> violations =
        [
            .. from message in account.Verdicts
               from violation in account.ViolationsOf(PromisedTo(message.MessageId), LimitsOf(message.MessageId))
               where violation.MessageId == message.MessageId
               select violation,
            .. account.ViolationsOf(PromisedAfter(way)).Where(violation => violation.MessageId is null && !LeavesBranches),
            .. from message in changed
               where message.Now.Beyond(Promise.Classes).Any()
               select new Violation(
                   message.Now.MessageId,
                   $"a message before it is {Words.Of(message.Now.Classes)} now; it was {Words.Of(message.Before)} when it was accounted for",
                   message.Now.Evidence),
        ];
        var notPromised = account.Verdicts.SelectMany(message => message.Beyond(PromisedTo(message.MessageId)))
            .Concat(changed.SelectMany(message => message.Now.Beyond(Promise.Classes)));
        var verdict = outcome.IsMet
            ? PointVerdict.Of(outcome.Unsettled, violations.Count > 0, notPromised)
            : PointVerdict.OfNotMet(outcome.Unsettled, violations.Count > 0, notPromised);
        if (!outcome.IsMet && verdict is FaultVerdict.Void)
            return blank with { Because = string.Join("; ", violations.Select(violation => violation.Because).Prepend(outcome.Because)) };

        // If the point was not met, what broke the promise can have come before the message.
        var met = account.Verdicts.OrderByDescending(message => message.MessageId == outcome.Chosen)
            .ThenByDescending(message => violations.Exists(violation => violation.MessageId == message.MessageId)).First();
        return blank.With(violations) with
        {
            IsWithoutFault = outcome.IsWithoutFault,
            Point = experiment.Facts(outcome),
            Verdict = verdict,
            Because = verdict is FaultVerdict.Void ? outcome.Because : null,
            Fired = verdict is FaultVerdict.Broken && outcome.Because is { } unsettled ? [.. fired, unsettled] : fired,
            Observed = [.. met.Classes.Order().Select(kind => new Observation(kind, 1))],
            Counts = account.Counts,
            Evidence = met.Evidence,
        };
    }
}
