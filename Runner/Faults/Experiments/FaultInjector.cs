using System.Diagnostics;
using Kit.Endpoints.Cells;
using Kit.Guarantees;
using Kit.Runner.Faults.Injections;
using Kit.Runner.Results.Accounts;
using Kit.Runner.Servers;
using Kit.Runner.Stage;
using Kit.Runner.Stage.Transports;
using Kit.Runner.Wire;

namespace Kit.Runner.Faults.Experiments;

/// <summary>Injects one fault at the chosen message, with ordinary ones before and after it.</summary>
/// <param name="servers">One may be made to crash.</param>
/// <param name="away">Time for which a server stays down.</param>
/// <param name="tell">Receives the evidence that the fault has fired.</param>
internal sealed class FaultInjector(Cell cell, Guid chosen, Testbed testbed, ServersInUse servers, TimeSpan away, Action<string> tell)
{
    private const int Ordinary = 10;
    private const int ForADrain = 3_000;

    /// <summary>More than the attempts of any mode: an endpoint that does not count attempts would go on for ever.</summary>
    private const int MostCuts = 8;

    /// <summary>Time for a process to start and handle a message, also on a busy machine.</summary>
    private static readonly TimeSpan Patience = TimeSpan.FromSeconds(60);

    /// <summary>Time for an attempt to be cut off and the next to begin: NServiceBus reconnects to RabbitMQ after 10 s.</summary>
    private static readonly TimeSpan ForACut = TimeSpan.FromSeconds(20);

    /// <summary>Time for a message to be moved to the error queue after its last attempt.</summary>
    private static readonly TimeSpan ForADeadLetter = TimeSpan.FromSeconds(2);

    private static readonly TimeSpan Moment = TimeSpan.FromMilliseconds(300);
    private static readonly TimeSpan Pause = TimeSpan.FromMilliseconds(25);

    /// <summary>The moment before a server was made to crash; <see langword="null"/> if none was.</summary>
    public DateTimeOffset? Crashed { get; private set; }

    /// <summary>The violation that other messages did not pass the chosen one while they should; <see langword="null"/> if they did, or need not.</summary>
    public Violation? Blocked { get; private set; }

    /// <summary>Injects the fault.</summary>
    /// <returns>The reason why it did not fire; <see langword="null"/> if it did.</returns>
    public async Task<string?> InjectAsync(Injection injection, CancellationToken cancellationToken)
    {
        var behaviour = injection switch
        {
            InHandler does => does.Behaviour,
            KillWhereParked => Behaviour.Parks,
            LosesReceive => Behaviour.WaitsForACut,
            QueueComesLate => Behaviour.SendsToLateQueue,
            ArrivesTwice => Behaviour.WaitsForItsCopy,
            TurnsReadOnly => Behaviour.WaitsForTheServer,
            LeavesSettings => Behaviour.LeavesSettings,
            SendsTooMuch => Behaviour.SendsTooMuch,
            RefusesDeadLetter => Behaviour.AlwaysThrowsBeforeInsert,
            ByConstraint or OnTheWire or MeetsADrain or HoldsSlots => Behaviour.Succeeds,
            _ => throw new NotSupportedException($"It is not defined what the handler does under {injection}."),
        };
        if (injection is SendsTooMuch)
            await servers.BrokerOf(cell).LimitMessagesAsync(ExperimentSpec.LargestMessage, cancellationToken);
        await testbed.StartHandlerAsync(chosen, behaviour, injection is KillWhereParked parked ? parked.Point : AttemptPoint.Started, cancellationToken);
        if (injection is MeetsADrain disturbance)
            return await DisturbAsync(disturbance, cancellationToken);

        await testbed.SendAsync(NewIds(Ordinary), cancellationToken);
        if (!await UntilAsync(() => AreHandledAsync(cancellationToken), cancellationToken))
            return "the messages before the fault were not handled";

        var armed = injection is OnTheWire wire ? Arm(wire) : null;
        if (injection is ByConstraint)
            await testbed.Database.FailCommitOfAsync(chosen, cancellationToken);
        if (injection is LeavesSettings)
            await testbed.Database.CreateDecoysAsync(cancellationToken);
        await using var slots = injection is HoldsSlots
            ? await HeldSlots.TakeAllAsync(servers.WidgetsOf(cell).ConnectionString, cancellationToken)
            : null;
        await using var refusal = injection is RefusesDeadLetter ? await testbed.RefuseDeadLettersAsync(cancellationToken) : null;
        await testbed.SendAsync(injection is SendsTooMuch ? [chosen, .. NewIds(Ordinary)] : [chosen], cancellationToken);
        if (injection is ArrivesTwice)
            await testbed.SendAgainAsync(chosen, cancellationToken);
        var hasFired = injection switch
        {
            LosesReceive => await CutEachReceiveAsync(cancellationToken),
            HoldsSlots => await HoldAsync(slots!, cancellationToken),
            TurnsReadOnly => await TurnReadOnlyAsync(cancellationToken),
            RefusesDeadLetter => await PassARefusedOneAsync(refusal!, cancellationToken),
            InHandler or KillWhereParked or QueueComesLate or ArrivesTwice or ByConstraint or OnTheWire or LeavesSettings or SendsTooMuch =>
                await UntilAsync(() => HasFiredAsync(injection, armed, cancellationToken), cancellationToken),
            _ => throw new NotSupportedException($"It is not defined how to see that {injection} has happened."),
        };
        if (hasFired && injection is OnTheWire { IsAfterHandler: true } && !testbed.Journal.LinesOf(chosen).Any(line => line.Point is AttemptPoint.Returned))
            return "the fault fired before the handler had returned";
        int? exitCode = injection is KillWhereParked or OnTheWire { Kills: true } ? await KillAsync(cancellationToken) : null;
        if (injection is QueueComesLate && !await CreateQueueLateAsync(cancellationToken))
            return "the message was neither handled nor dead-lettered";

        var after = NewIds(Ordinary);
        await testbed.SendAsync(after, cancellationToken);
        if (!await UntilAsync(() => Task.FromResult(testbed.Journal.LinesOf(after[^1]).Count > 0), cancellationToken))
            return "the endpoint did not go on after the fault";

        return hasFired && exitCode is (null or ChildProcess.Killed) ? null : "the fault did not fire";
    }

    /// <summary>True if the first messages are handled completely, so that the armed fault meets the chosen one.</summary>
    private async Task<bool> AreHandledAsync(CancellationToken cancellationToken)
    {
        // While the process starts, the journal answers at less cost than the servers.
        if (StartedAttempts() < Ordinary
            || await testbed.CountAsync(cancellationToken) is not { AreDone: true } before || before.Sink != Ordinary * testbed.Shape.Deliveries)
            return false;

        await Task.Delay(Moment, cancellationToken);
        return await testbed.CountAsync(cancellationToken) == before;
    }

    private async Task<bool> CreateQueueLateAsync(CancellationToken cancellationToken)
    {
        if (!await UntilAsync(() => AreEndedAsync(cancellationToken), cancellationToken))
            return false;

        await testbed.CreateLateSinkAsync(cancellationToken);
        tell("the queue was created after the message had been handled or dead-lettered");
        return true;
    }

    private async Task<bool> AreEndedAsync(CancellationToken cancellationToken)
    {
        if (await testbed.CountAsync(cancellationToken) is not { IsReceived: true } before)
            return false;

        await Task.Delay(Moment, cancellationToken);
        return await testbed.CountAsync(cancellationToken) == before;
    }

    private ArmedFault Arm(OnTheWire wire)
    {
        var proxy = wire.Connection is ConnectionTo.Widgets ? testbed.WidgetsProxy : testbed.TransportProxy;
        return proxy.CutAt(wire.Patterns, wire.Moment, wire.Kills ? Ending.Hold : Ending.Cut);
    }

    private async Task<bool> HasFiredAsync(Injection injection, ArmedFault? armed, CancellationToken cancellationToken)
    {
        if (injection is OnTheWire wire)
        {
            if (!armed!.Fired.IsCompleted)
                return false;

            tell(
                $"the proxy found its bytes on the connection to the {Words.Of(wire.Connection)} " +
                $"and {(wire.Kills ? "held" : "cut")} it ({Words.Of(wire.Moment)})");
            return true;
        }

        if (injection is ByConstraint)
        {
            if (!await testbed.Database.HasFailedACommitAsync(cancellationToken))
                return false;

            tell("the constraint failed once");
            return true;
        }

        if (testbed.Journal.LinesOf(chosen).FirstOrDefault(line => line.Point is AttemptPoint.Faulted) is not { } met)
            return false;

        tell($"the journal of attempt {met.AttemptId} says: {met.Note}");
        return true;
    }

    /// <summary>Cuts until the message is no longer in the queue, or was cut off more often than any mode attempts it.</summary>
    private async Task<bool> CutEachReceiveAsync(CancellationToken cancellationToken)
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
            cancellationToken,
            (MostCuts + 1) * ForACut);
        testbed.LetGoOfAll();
        tell($"the connection to the transport was cut {Math.Min(cuts, MostCuts)} times while the message was being handled");
        return hasEnded;
    }

    private async Task<bool> HoldAsync(HeldSlots slots, CancellationToken cancellationToken)
    {
        await Task.Delay(HeldSlots.Time, cancellationToken);
        tell($"another application held all {slots.Count} free prepared transactions for {HeldSlots.Time.TotalSeconds} s");
        await slots.DisposeAsync();
        return true;
    }

    private async Task<bool> TurnReadOnlyAsync(CancellationToken cancellationToken)
    {
        if (!await UntilAsync(() => Task.FromResult(HasFaulted()), cancellationToken))
            return false;

        await using (await ReadOnlyTime.BeginAsync(servers.WidgetsOf(cell).ConnectionString, cancellationToken))
        {
            testbed.LetGoOfAll();
            await Task.Delay(ReadOnlyTime.Length, cancellationToken);
        }

        tell($"the database server was read-only for {ReadOnlyTime.Length.TotalSeconds} s, from a moment when the handler had the message");
        return true;
    }

    /// <summary>The error queue refuses the chosen message until its attempts have failed and other messages have passed it.</summary>
    private async Task<bool> PassARefusedOneAsync(IAsyncDisposable refusal, CancellationToken cancellationToken)
    {
        if (!await UntilAsync(() => Task.FromResult(Failures() >= cell.Mode.Attempts), cancellationToken))
            return false;

        var all = (await testbed.CountAsync(cancellationToken)).Sink + (Ordinary * testbed.Shape.Deliveries);
        await testbed.SendAsync(NewIds(Ordinary), cancellationToken);
        if (!await UntilAsync(async () => (await testbed.CountAsync(cancellationToken)).Sink >= all, cancellationToken))
            Blocked = new Violation(null, $"a message that the error queue refuses has blocked {Ordinary} others for {Patience.TotalSeconds} s", []);
        await Task.Delay(ForADeadLetter, cancellationToken);
        var isRefused = (await testbed.CountAsync(cancellationToken)).Errors == 0;
        await refusal.DisposeAsync();
        tell($"the error queue refused messages, and did not have this one after {Failures()} failed attempts");
        return isRefused;
    }

    private int Failures() => testbed.Journal.LinesOf(chosen).Count(line => line.Point is AttemptPoint.Faulted);

    private bool HasFaulted() => Failures() > 0;

    private async Task<int> KillAsync(CancellationToken cancellationToken)
    {
        var code = await testbed.KillHandlerAsync();
        tell($"the handler process ended with exit code {code}");
        // The next process meets no fault.
        await testbed.StartHandlerAsync(chosen, Behaviour.Succeeds, AttemptPoint.Started, cancellationToken);
        return code;
    }

    private async Task<string?> DisturbAsync(MeetsADrain disturbance, CancellationToken cancellationToken)
    {
        await testbed.SendAsync(NewIds(ForADrain), cancellationToken);
        if (!await UntilAsync(() => Task.FromResult(StartedAttempts() > ForADrain * disturbance.Depth), cancellationToken))
            return $"the drain did not reach {disturbance.Depth:P0} of its messages within {Patience.TotalSeconds} s";

        var started = StartedAttempts();
        if (disturbance is Restart)
            Crashed = DateTimeOffset.UtcNow;
        if (disturbance is GoesSilent && await SilenceAsync(cancellationToken) is { } why)
            return why;
        tell(disturbance switch
        {
            GoesSilent => $"no byte arrived for {GoesSilent.Time.TotalSeconds} s, and no attempt began and ended",
            Restart { StaysAway: true } restart => await ServerOf(restart).StayAwayAsync(away, cancellationToken),
            Restart restart => await ServerOf(restart).CrashAsync(cancellationToken),
            _ => throw new NotSupportedException($"It is not defined how to inject {disturbance}."),
        });
        tell($"{started} of {ForADrain} messages had been attempted when the fault began");
        return started < ForADrain - Testbed.Concurrency ? null : "the drain had ended before the fault";
    }

    private ServerInUse ServerOf(Restart restart) => restart.OfBroker ? servers.Of(cell) : servers.WidgetsOf(cell);

    /// <returns>The reason why it was not silent; <see langword="null"/> if it was.</returns>
    private async Task<string?> SilenceAsync(CancellationToken cancellationToken)
    {
        FaultProxy[] proxies = [.. new[] { testbed.WidgetsProxy, testbed.TransportProxy }.Distinct()];
        try
        {
            if (proxies.Sum(proxy => proxy.Stall(Traffic.Both)) == 0)
                return "there was no open connection";

            await Task.Delay(Moment, cancellationToken);
            var before = testbed.Journal.Count();
            await Task.Delay(GoesSilent.Time - Moment, cancellationToken);
            return testbed.Journal.Count() - before > Testbed.Concurrency * testbed.Shape.LinesPerAttempt ? "the drain went on" : null;
        }
        finally
        {
            foreach (var proxy in proxies)
                proxy.Resume(Traffic.Both);
        }
    }

    private int StartedAttempts() => testbed.Journal.Count() / testbed.Shape.LinesPerAttempt;

    private async Task<bool> UntilAsync(Func<Task<bool>> condition, CancellationToken cancellationToken, TimeSpan? limit = null)
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
}
