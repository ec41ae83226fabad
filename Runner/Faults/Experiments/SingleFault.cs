using System.Diagnostics;
using Kit.Endpoints.Cells;
using Kit.Guarantees;
using Kit.Runner.Faults.Injections;
using Kit.Runner.Results.Accounts;
using Kit.Runner.Results.Faults;
using Kit.Runner.Rounds;
using Kit.Runner.Transports;

namespace Kit.Runner.Faults.Experiments;

/// <summary>
/// One fault that meets one message, exactly: some ordinary messages are handled, then the chosen one lies alone in the queue and meets the
/// fault, then more ordinary ones follow. A server that crashes meets all of them.
/// </summary>
internal sealed class SingleFault(Cell cell, Fault fault, RunServers servers, TimeSpan away)
{
    private const int Ordinary = 10;
    private const int ForARestart = 3_000;

    /// <summary>More than any mode attempts: an endpoint that does not count would go on for ever.</summary>
    private const int MostCuts = 8;

    private const int MostViolations = 5;
    private const int MostEvidence = 5;

    /// <summary>128 + SIGKILL.</summary>
    private const int Killed = 137;

    /// <summary>For a process to come up and handle a message, on a busy machine too.</summary>
    private static readonly TimeSpan Patience = TimeSpan.FromSeconds(60);

    /// <summary>For an attempt to be cut off and the next to begin: NServiceBus connects to RabbitMQ again after 10 s.</summary>
    private static readonly TimeSpan ForACut = TimeSpan.FromSeconds(20);

    private static readonly TimeSpan Moment = TimeSpan.FromMilliseconds(300);
    private static readonly TimeSpan Pause = TimeSpan.FromMilliseconds(25);

    private readonly Guid chosen = Guid.CreateVersion7();
    private readonly List<string> fired = [];

    /// <summary>Runs it. Whatever fails becomes the result's verdict.</summary>
    /// <exception cref="OperationCanceledException">It was stopped.</exception>
    public async Task<FaultResult> RunAsync(CancellationToken cancellationToken)
    {
        var blank = new FaultResult { Cell = Provenance.NameOf(cell), Fault = fault.Name, Verdict = FaultVerdict.Failed };
        var injection = Injection.Of(fault, cell, chosen);
        if (injection is NoWindow none)
            return blank with { Verdict = FaultVerdict.NoWindow, Because = none.Because };

        var watch = Stopwatch.StartNew();
        try
        {
            await using var testbed = await Testbed.CreateAsync(cell, servers, cancellationToken);
            var why = await InjectAsync(testbed, injection, cancellationToken);
            var unsettled = await Settling.WaitAsync(testbed.CountAsync, cancellationToken);
            await testbed.StopHandlerAsync(cancellationToken);
            var account = Account.Of(await testbed.ReadHistoryAsync(cancellationToken), testbed.Workload);
            return Judge(blank, account, injection is Restart, why ?? unsettled) with { Seconds = watch.Elapsed.TotalSeconds };
        }
        catch (Exception failure) when (!cancellationToken.IsCancellationRequested)
        {
            return blank with { Because = failure.Message, Fired = fired, Seconds = watch.Elapsed.TotalSeconds };
        }
    }

    /// <summary>Lets the fault happen.</summary>
    /// <returns>Why it did not; <see langword="null"/> when it did.</returns>
    private async Task<string?> InjectAsync(Testbed testbed, Injection injection, CancellationToken cancellationToken)
    {
        var behaviour = injection switch
        {
            InHandler does => does.Behaviour,
            KillWhereParked => Behaviour.Parks,
            LosesReceive => Behaviour.WaitsForACut,
            QueueComesLate => Behaviour.SendsToLateQueue,
            _ => Behaviour.Succeeds,
        };
        await testbed.StartHandlerAsync(chosen, behaviour, injection is KillWhereParked parked ? parked.Point : AttemptPoint.Started, cancellationToken);
        if (injection is Restart restart)
            return await CrashAsync(testbed, restart, cancellationToken);

        await testbed.SendAsync(NewIds(Ordinary), cancellationToken);
        if (!await UntilAsync(() => AreHandledAsync(testbed, cancellationToken), testbed, cancellationToken))
            return "the messages before the fault were not handled";

        var armed = injection is OnTheWire wire ? Arm(testbed, wire) : null;
        if (injection is ByConstraint)
            await testbed.FailCommitOfAsync(chosen, cancellationToken);
        await using var slots = injection is HoldsSlots
            ? await HeldSlots.TakeAllAsync(servers.WidgetsOf(cell).ConnectionString, cancellationToken)
            : null;
        await testbed.SendAsync([chosen], cancellationToken);
        var hasFired = injection switch
        {
            LosesReceive => await CutEachReceiveAsync(testbed, cancellationToken),
            HoldsSlots => await HoldAsync(slots!, cancellationToken),
            _ => await UntilAsync(() => HasFiredAsync(testbed, injection, armed, cancellationToken), testbed, cancellationToken),
        };
        if (hasFired && injection is OnTheWire { IsAfterHandler: true } && !testbed.Journal.LinesOf(chosen).Any(line => line.Point is AttemptPoint.Returned))
            return "the fault fired before the handler had returned";
        if (injection is KillWhereParked or OnTheWire { Kills: true })
            await KillAsync(testbed, cancellationToken);

        if (injection is QueueComesLate && !await CreateQueueLateAsync(testbed, cancellationToken))
            return "the message did not come to its end";

        var after = NewIds(Ordinary);
        await testbed.SendAsync(after, cancellationToken);
        if (!await UntilAsync(() => Task.FromResult(testbed.Journal.LinesOf(after[^1]).Count > 0), testbed, cancellationToken))
            return "the endpoint did not go on after the fault";

        return hasFired && IsKillShown(injection) ? null : "the fault did not fire";
    }

    /// <summary>Whether the first messages are handled and nothing of them is on its way, so that the armed fault meets the chosen one.</summary>
    private static async Task<bool> AreHandledAsync(Testbed testbed, CancellationToken cancellationToken)
    {
        if (await testbed.CountAsync(cancellationToken) is not { AreDone: true, Sink: Ordinary } before)
            return false;

        await Task.Delay(Moment, cancellationToken);
        return await testbed.CountAsync(cancellationToken) == before;
    }

    private async Task<bool> CreateQueueLateAsync(Testbed testbed, CancellationToken cancellationToken)
    {
        if (!await UntilAsync(() => AreEndedAsync(testbed, cancellationToken), testbed, cancellationToken))
            return false;

        await testbed.CreateLateSinkAsync(cancellationToken);
        fired.Add("the queue was created when the message had been handled or given up");
        return true;
    }

    private static async Task<bool> AreEndedAsync(Testbed testbed, CancellationToken cancellationToken)
    {
        if (await testbed.CountAsync(cancellationToken) is not { IsReceived: true } before)
            return false;

        await Task.Delay(Moment, cancellationToken);
        return await testbed.CountAsync(cancellationToken) == before;
    }

    private static ArmedFault Arm(Testbed testbed, OnTheWire wire)
    {
        var proxy = wire.Connection is ConnectionTo.Widgets ? testbed.WidgetsProxy : testbed.TransportProxy;
        return proxy.CutAt(wire.Patterns, wire.Moment, wire.Kills ? Ending.Hold : Ending.Cut);
    }

    private async Task<bool> HasFiredAsync(Testbed testbed, Injection injection, ArmedFault? armed, CancellationToken cancellationToken)
    {
        if (injection is OnTheWire wire)
        {
            if (!armed!.Fired.IsCompleted)
                return false;

            fired.Add(
                $"the proxy met its bytes on the connection to the {Words.Of(wire.Connection)} " +
                $"and {(wire.Kills ? "held" : "cut")} it ({Words.Of(wire.Moment)})");
            return true;
        }

        if (injection is ByConstraint)
        {
            if (!await testbed.HasFailedACommitAsync(cancellationToken))
                return false;

            fired.Add("the constraint has failed once");
            return true;
        }

        if (testbed.Journal.LinesOf(chosen).FirstOrDefault(line => line.Point is AttemptPoint.Faulted) is not { } met)
            return false;

        fired.Add($"the journal of attempt {met.AttemptId} says: {met.Note}");
        return true;
    }

    /// <summary>Until the message is no longer in the queue, or has been cut off more often than any mode attempts it.</summary>
    private async Task<bool> CutEachReceiveAsync(Testbed testbed, CancellationToken cancellationToken)
    {
        var attempts = new HashSet<Guid>();
        var cuts = 0;
        var hasEnded = await UntilAsync(
            async () =>
            {
                foreach (var line in testbed.Journal.LinesOf(chosen).Where(line => line.Point is AttemptPoint.Faulted && attempts.Add(line.AttemptId)))
                {
                    if (cuts < MostCuts)
                        await testbed.CutReceiveAsync(line.AttemptId);
                    else
                        testbed.LetGo(line.AttemptId);
                    cuts++;
                }

                return cuts > 0 && (await testbed.CountAsync(cancellationToken)).Queue == 0;
            },
            testbed,
            cancellationToken,
            (MostCuts + 1) * ForACut);
        testbed.LetGoOfAll();
        fired.Add($"the connection to the transport was cut {Math.Min(cuts, MostCuts)} times while the message was being handled");
        return hasEnded;
    }

    private async Task<bool> HoldAsync(HeldSlots slots, CancellationToken cancellationToken)
    {
        await Task.Delay(HeldSlots.Time, cancellationToken);
        fired.Add($"another application held all {slots.Count} prepared transactions that were free, for {HeldSlots.Time.TotalSeconds} s");
        await slots.DisposeAsync();
        return true;
    }

    private async Task KillAsync(Testbed testbed, CancellationToken cancellationToken)
    {
        var code = await testbed.KillHandlerAsync();
        fired.Add($"the handler process ended with exit code {code}");
        // The one that goes on meets no fault.
        await testbed.StartHandlerAsync(chosen, Behaviour.Succeeds, AttemptPoint.Started, cancellationToken);
    }

    private bool IsKillShown(Injection injection) =>
        injection is not (KillWhereParked or OnTheWire { Kills: true }) || fired.Exists(line => line.EndsWith($" {Killed}", StringComparison.Ordinal));

    private async Task<string?> CrashAsync(Testbed testbed, Restart restart, CancellationToken cancellationToken)
    {
        await testbed.SendAsync(NewIds(ForARestart), cancellationToken);
        if (!await UntilAsync(() => Task.FromResult(StartedAttempts(testbed) > ForARestart / 20), testbed, cancellationToken))
            return "the drain did not start";

        var server = restart.OfBroker ? servers.Of(cell) : servers.WidgetsOf(cell);
        fired.Add(restart.StaysAway ? await server.StayAwayAsync(away, cancellationToken) : await server.CrashAsync(cancellationToken));
        var started = StartedAttempts(testbed);
        fired.Add($"{started} of {ForARestart} messages had been attempted when the server was back");
        return started < ForARestart ? null : "the drain had ended before the server crashed";
    }

    private static int StartedAttempts(Testbed testbed) => testbed.Journal.Count() / ExperimentHandler.LinesPerAttempt;

    private static async Task<bool> UntilAsync(Func<Task<bool>> condition, Testbed testbed, CancellationToken cancellationToken, TimeSpan? limit = null)
    {
        for (var watch = Stopwatch.StartNew(); !await condition(); await Task.Delay(Pause, cancellationToken))
        {
            testbed.ThrowIfBroken();
            if (watch.Elapsed > (limit ?? Patience))
                return false;
        }

        return true;
    }

    private static List<Guid> NewIds(int count) => [.. Enumerable.Range(0, count).Select(_ => Guid.CreateVersion7())];

    private FaultResult Judge(FaultResult blank, Account account, bool meetsAll, string? why)
    {
        var promised = FaultPromise.Of(fault, cell.Mode, Transport.Of(cell).IsBroker);
        var met = account.Verdicts.Where(verdict => meetsAll || verdict.MessageId == chosen).ToList();
        var mayBeInDoubt = promised.Contains(DeliveryClass.InDoubt);
        List<Violation> violations =
        [
            .. account.ViolationsOf(promised, LimitsOf(Affected.Chosen)).Where(violation => violation.MessageId is { } id && (meetsAll || id == chosen)),
            .. account.ViolationsOf(new HashSet<DeliveryClass> { DeliveryClass.Once }, LimitsOf(Affected.Bystander))
                .Where(violation => violation.MessageId is { } id ? !meetsAll && id != chosen : !mayBeInDoubt),
        ];
        return blank with
        {
            Verdict = why is not null ? FaultVerdict.Void : violations.Count > 0 ? FaultVerdict.Broken : FaultVerdict.Kept,
            Because = why,
            Promised = [.. promised.Order()],
            Observed =
            [
                .. from kind in Enum.GetValues<DeliveryClass>()
                   let messages = met.Count(verdict => verdict.Is(kind))
                   where messages > 0
                   select new Observation(kind, messages),
            ],
            Counts = account.Counts,
            Fired = fired,
            Evidence = meetsAll ? account.EvidenceOfOthers(MostEvidence) : [.. met.SelectMany(verdict => verdict.Evidence)],
            // What is not known first, so that the first few have it.
            Violations = [.. violations.OrderBy(violation => violation.Known is not null).Take(MostViolations)],
            ViolationCount = violations.Count,
        };
    }

    private IReadOnlyList<KnownLimit> LimitsOf(Affected affected) => KnownLimit.Of(cell.Kind.Framework, cell.Kind.Transport, cell.Mode, fault, affected);
}
