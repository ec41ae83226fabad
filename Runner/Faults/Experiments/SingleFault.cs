using System.Diagnostics;
using Kit.Endpoints.Cells;
using Kit.Guarantees;
using Kit.Modes;
using Kit.Runner.Faults.Injections;
using Kit.Runner.Faults.Points;
using Kit.Runner.Faults.Testbeds;
using Kit.Runner.Measuring;
using Kit.Runner.Results;
using Kit.Runner.Results.Accounts;
using Kit.Runner.Results.Faults;
using Kit.Runner.Results.Points;
using Kit.Runner.Stage;
using Kit.Runner.Stage.Transports;

namespace Kit.Runner.Faults.Experiments;

/// <summary>
/// One fault that meets exactly one message: some ordinary messages are handled, then the chosen one is alone in the queue and meets the
/// fault, then more ordinary ones follow. A crash of a server meets all of them.
/// </summary>
/// <param name="away">Time for which the database server is down under <see cref="Fault.DatabaseAway"/>.</param>
internal sealed class SingleFault(Cell cell, Fault fault, HandlerShape shape, ServersInUse servers, TimeSpan away)
{
    private const int MostEvidence = 5;

    private readonly Guid chosen = Guid.CreateVersion7();
    private readonly List<string> fired = [];

    /// <summary>Runs it. Any failure becomes the result's verdict.</summary>
    /// <exception cref="OperationCanceledException">It was stopped.</exception>
    public async Task<FaultResult> RunAsync(CancellationToken cancellationToken)
    {
        var known = new FaultResult { Cell = Provenance.NameOf(cell), Fault = fault.Name, Verdict = FaultVerdict.Failed, Fired = fired };
        var injection = Injection.Of(fault, cell, shape, chosen);
        if (injection is NoWindow none)
            return known with { Verdict = FaultVerdict.NoWindow, Because = none.Because };

        var watch = Stopwatch.StartNew();
        try
        {
            await using var testbed = await Testbed.CreateAsync(cell, servers, cancellationToken, shape: shape, gate: injection.Gate);
            var scene = new FaultScene(cell, chosen, testbed, servers, away, fired.Add);
            string? notFired;
            await using (scene)
                notFired = await injection.InjectAsync(scene, cancellationToken);
            var unsettled = await Settling.WaitAsync(
                testbed.CountAsync,
                cell.Kind.Facts.LongestPause,
                mayHideWork: injection.MayHideWork && !cell.Mode.CommitOrder.IsMessageLeftInHandler,
                cancellationToken);
            var waiting = (await testbed.CountAsync(cancellationToken)).Outbox;
            await testbed.StopOrKillHandlerAsync(cancellationToken);
            var history = await testbed.ReadHistoryAsync(cancellationToken);
            var account = Account.Of(history, testbed.Workload);
            return known = Judge(known, account, injection.MeetsEveryMessage, scene.Blocked, waiting, notFired, unsettled) with
            {
                HandledAgain = scene.Crashed is { } crash ? HandledAgain.Of(history.Attempts, crash) : null,
                Seconds = watch.Elapsed.TotalSeconds,
            };
        }
        catch (Exception failure) when (!cancellationToken.IsCancellationRequested)
        {
            return known.FailedAfterwards(KitException.MessageOf(failure)) with { Seconds = watch.Elapsed.TotalSeconds };
        }
    }

    private FaultResult Judge(
        FaultResult blank, Account account, bool meetsAll, Violation? blocked, long waiting, string? notFired, string? unsettled)
    {
        var transport = Transport.Of(cell);
        var promised = FaultPromise.Of(fault, cell.Mode, transport.IsBroker);
        var met = account.Verdicts.Where(verdict => meetsAll || verdict.MessageId == chosen).ToList();
        var mayBeInDoubt = promised.Contains(DeliveryClass.InDoubt);
        var tooMany = FaultPromise.InADrain(fault, cell.Mode, transport.IsBroker, transport.HoldsWidgets) is { } drain
            ? StormLimits.TooManyAfterACrash(account, drain, Testbed.Concurrency * cell.BatchSize, transport.Prefetch)
            : null;
        List<Violation> violations =
        [
            .. tooMany is null ? Array.Empty<Violation>() : [tooMany],
            .. blocked is null ? Array.Empty<Violation>() : [blocked with { Known = ReasonOfStuckOthers }],
            .. cell.Mode == TransactionMode.Outbox && promised.Contains(DeliveryClass.Zombie)
                ? WaitingSends.ViolationsOf(met, waiting, LimitsOf(Affected.Chosen))
                : [],
            .. account.ViolationsOf(promised, LimitsOf(Affected.Chosen)).Where(violation => violation.MessageId is { } id && (meetsAll || id == chosen)),
            .. account.ViolationsOf(new HashSet<DeliveryClass> { DeliveryClass.Once }, LimitsOf(Affected.Bystander))
                .Where(violation => violation.MessageId is { } id ? !meetsAll && id != chosen : !mayBeInDoubt),
        ];
        var why = notFired ?? unsettled;
        // Where the fault did not fire, only what stays can break a promise, as where nothing came to rest.
        var verdict = PointVerdict.Of(why, violations.Count > 0, violations.SelectMany(violation => violation.Classes));
        return blank.With(violations) with
        {
            Verdict = verdict,
            Because = verdict is FaultVerdict.Void ? why : null,
            Promised = [.. promised.Order()],
            Observed =
            [
                .. from kind in Enum.GetValues<DeliveryClass>()
                   let messages = met.Count(verdict => verdict.Is(kind))
                   where messages > 0
                   select new Observation(kind, messages),
            ],
            Counts = account.Counts,
            Fired = verdict is FaultVerdict.Broken && why is not null ? [.. fired, why] : fired,
            Evidence = meetsAll ? account.EvidenceOfOthers(MostEvidence) : [.. met.SelectMany(verdict => verdict.Evidence)],
        };
    }

    private string? ReasonOfStuckOthers =>
        LimitsOf(Affected.Bystander).FirstOrDefault(limit => limit.Classes.Contains(DeliveryClass.Stuck))?.Reason;

    private IReadOnlyList<KnownLimit> LimitsOf(Affected affected) => cell.Kind.Facts.LimitsOf(cell, fault, affected);
}
