using System.Diagnostics;
using System.Globalization;
using Kit.Runner.Measuring;
using Kit.Runner.Results;
using Kit.Runner.Results.Points;
using Kit.Runner.Servers;
using Kit.Runner.Wire;

namespace Kit.Runner.Faults.Points;

/// <summary>
/// One subject for experiments at points, one after another. Each has one message, which comes when the subject's process has handled others and has
/// nothing to do.
/// </summary>
/// <typeparam name="TAccount">The knowledge about the subject's messages.</typeparam>
/// <param name="subject">Disposed with the lane.</param>
/// <param name="beforeCrash">Called right before the message of an experiment in which a server crashes.</param>
/// <param name="crashServer">Crashes a server, named as in requests, and starts it again. Returns the evidence.</param>
internal sealed class PointLane<TAccount>(
    RequestGate gate, ISubject<TAccount> subject, PointPromises<TAccount> promises, PointWaits waits, Func<CancellationToken, Task> beforeCrash,
    Func<string, CancellationToken, Task<string>> crashServer)
    : IAsyncDisposable
    where TAccount : class
{
    /// <summary>Time without a change, while an answer never comes, before the process is killed.</summary>
    private static readonly TimeSpan ToGetOver = TimeSpan.FromSeconds(12);

    /// <summary>Statements are prepared at their second use: from the third message on, handlings are alike.</summary>
    private const int ToWarmUp = 3;

    /// <summary>A process can have a hundred connections, and most are not of its queue.</summary>
    private const int MostAtOnce = 40;

    /// <summary>Each time, each of its workers has a turn to find that its connection is gone.</summary>
    private const int MostLateBatches = 3;

    /// <summary>Factor by which a busy machine may be slower than a start.</summary>
    private const int Busy = 4;

    /// <summary>Duration of one message of a slow subject.</summary>
    public static readonly TimeSpan LongestMessage = TimeSpan.FromSeconds(3);

    /// <summary>Time for messages to settle on a machine that is not busy.</summary>
    public static readonly TimeSpan ToSettle = TimeSpan.FromSeconds(60);

    private static readonly TimeSpan ToMeet = TimeSpan.FromSeconds(10);
    private static readonly TimeSpan ToStop = TimeSpan.FromSeconds(2);
    private static readonly TimeSpan Pause = TimeSpan.FromMilliseconds(10);

    private bool isFresh;

    /// <summary>
    /// Time without a change after which work counts as stuck. A busy machine needs longer: four times the longest duration of a start and some messages.
    /// </summary>
    private TimeSpan quiet = Settling.ToStart;

    private TimeSpan longestStart;

    /// <summary>True if the last experiment met its point.</summary>
    public bool HasMet { get; private set; }

    /// <summary>The requests that the process repeats while it has no message, and those that it makes once.</summary>
    /// <exception cref="KitException">The messages before were not handled once.</exception>
    public async Task<IdleTraffic> RecordIdleAsync(CancellationToken cancellationToken)
    {
        await ThrowIfNotReadyAsync(cancellationToken);
        return IdleTraffic.Of(await WatchIdleAsync(cancellationToken), await WatchIdleAsync(cancellationToken));
    }

    private async Task<IdleTime> WatchIdleAsync(CancellationToken cancellationToken)
    {
        gate.Record();
        await Task.Delay(waits.Idle, cancellationToken);
        return new IdleTime(gate.Release(), gate.Hidden);
    }

    /// <summary>The requests of one undisturbed handling.</summary>
    /// <exception cref="KitException">The message, or one before, was not handled once.</exception>
    public async Task<Handling> RecordAsync(IdleTraffic idle, CancellationToken cancellationToken)
    {
        await ThrowIfNotReadyAsync(cancellationToken);
        var message = await SendAsync(gate.Record, cancellationToken);
        if (await SettleAsync([message], cancellationToken) is { } why)
            throw new KitException($"An undisturbed message was not handled: {why}.", subject.Remedy);

        var handling = Handling.Of(gate.Release(), idle.Transactions, [.. gate.Hidden.Except(idle.Requests)], gate.HasEndedHidden);
        ThrowIfDisturbed("The recorded message and those before it", await AccountAsync(cancellationToken));
        return handling;
    }

    /// <summary>Handles one message and stops at a point of its handling.</summary>
    /// <returns>The outcome for the message, with the reason why nothing is shown if the point was not met.</returns>
    public async Task<PointOutcome<TAccount>> MeetAsync(PointExperiment experiment, CancellationToken cancellationToken)
    {
        var (point, way, _, all) = experiment;
        var events = new List<PointEvent>();
        DateTime? metUtc = null;
        HasMet = false;
        var before = await GetReadyAsync(cancellationToken);
        isFresh = false;
        TellOwnEnds(PointPhase.Before);
        if (before is not null && promises.WhyDisturbed(before) is { } disturbed)
        {
            return new PointOutcome<TAccount>($"nothing disturbed the messages before the experiment, and {disturbed}")
            {
                Events = events,
                Account = before,
                Unsettled = WhyUnsettled(before, events, "a message before the experiment"),
            };
        }

        // Those messages were handled all the same.
        events.Clear();
        // A pool has a turn for each of its sessions, and one that is dead has had it when the late messages come.
        var sessions = gate.Sessions;
        var turns = way.Facts().KillsProcess ? ToWarmUp : Math.Clamp(sessions + 2, ToWarmUp, MostAtOnce);
        if (way.Facts().CrashesServer)
            await beforeCrash(cancellationToken);
        var chosen = await SendAsync(() => gate.Arm(new MetMoment(point, all), way), cancellationToken);
        metUtc = await MeetAsync(chosen, cancellationToken);
        if (metUtc is null)
            return await NotMetAsync(DidNotCome(gate.PassedBecause));

        var hasEnded = TellOwnEnds(PointPhase.Met);
        // Here the fault is still to come. In the other ways it has been, and can have changed the answers.
        var isStillToCome = way.Facts().KillsProcess || way.Facts().CrashesServer;
        if (isStillToCome && gate.WhyNotMet is { } other)
            return await NotMetAsync(DidNotCome(other));
        if (gate.IsHoldingBack || (way.Facts().KillsProcess && !gate.IsSettled))
            return await NotMetAsync("the servers had not acted on all that they were asked before");

        HasMet = true;
        var requests = gate.Passed;
        events.Add(new PointEvent(PointPhase.Met, $"the proxy met request {point.Number} after {requests.Count} requests of the handling"));
        if (way.Facts().KillsProcess && await KillAsync(because: "") is not ChildProcess.Killed)
            return await NotMetAsync("the process had ended before it was killed", isStartedAgain: true);
        if (way.Facts().CrashesServer)
            events.Add(new PointEvent(PointPhase.Met, await crashServer(point.Request.Server, cancellationToken)));

        gate.Release();
        var isKilled = way.Facts().KillsProcess;
        double? killedAfter = null;
        var waiting = Stopwatch.StartNew();
        var sending = SendOrdinaryAsync(cancellationToken, turns);
        IReadOnlyList<Guid> awaited = PointVerdict.MayLackEffects(promises.ToMet) ? [] : [chosen];
        var getsOver = way is PointWay.Unanswered && await GetsOverAsync(awaited, sending, cancellationToken);
        // One that has ended by itself waits no more.
        hasEnded |= TellOwnEnds(PointPhase.Met);
        if (way is PointWay.Unanswered && !getsOver && !hasEnded)
        {
            var waited = waiting.Elapsed.TotalSeconds;
            killedAfter = await KillAsync($", after it had waited for {waited:F0} s") is ChildProcess.Killed ? waited : null;
            isKilled = true;
        }

        // A session that ends can lose what was sent at once, so only the last of these has to be handled. After a kill all of them have to be.
        var after = await sending;
        IReadOnlyList<Guid> handled = way.Facts().KillsProcess ? after : [after[^1]];
        var why = getsOver ? null : await SettleAsync([.. awaited, .. handled], cancellationToken, after.Count);

        TellOwnEnds(PointPhase.Met);
        IReadOnlyList<Guid> late = [];
        var recovery = new Recovery(LeavesWork: false, NotOnce: 0);
        var forgiven = 0;
        // A process that lives may never connect again. A session that ends can lose what was sent at once, but not what is sent when nothing moves any more.
        var mostLate = way.Facts().KillsProcess ? 0 : isKilled ? 1 : MostLateBatches;
        for (var batch = 0; batch < mostLate && why is null; batch++)
        {
            late = await SendOrdinaryAsync(cancellationToken, turns);
            why = await SettleAsync(late, cancellationToken);
            if (why is null && !isKilled)
                recovery = await subject.RecoveryAsync(late, cancellationToken);
            // Each session can be found dead once. More than that is no recovery, and the batch is judged.
            forgiven += recovery.NotOnce;
            if (recovery.IsWhole || recovery.LeavesWork || forgiven > sessions)
                break;
        }

        IReadOnlyList<Guid> afterRestart = [];
        var isAlive = !isKilled && why is null;
        var leavesWork = isAlive && !recovery.IsWhole;
        // What it does at its next start belongs to this experiment. A process that leaves work is judged as it is: a start could hide that.
        if (isAlive && !leavesWork)
        {
            // What was cut off can be tried again from memory. The kill would hide that.
            if (way == WayToWaitIn(point))
                await subject.WatchAsync(OnThisMachine(ToGetOver), cancellationToken);
            TellOwnEnds(PointPhase.Late);
            await subject.KillAsync();
            await subject.StartAsync(cancellationToken);
            afterRestart = await SendOrdinaryAsync(cancellationToken);
            why = await SettleAsync(afterRestart, cancellationToken);
        }

        // What a killed process left can disturb the next message, too.
        leavesWork |= isKilled && why is null && (await subject.RecoveryAsync(after, cancellationToken)).LeavesWork;
        isFresh = why is null && !leavesWork;
        TellOwnEnds(afterRestart.Count > 0 ? PointPhase.AfterRestart : PointPhase.Late);
        return new PointOutcome<TAccount>(why)
        {
            Events = events,
            IsMet = true,
            Chosen = chosen,
            Late = late,
            AfterRestart = afterRestart,
            LeavesWork = leavesWork,
            KilledAfterSeconds = killedAfter,
            Requests = requests,
            Account = await AccountAsync(cancellationToken),
        };

        // The message is accounted for all the same: no try may hide that one is lost.
        async Task<PointOutcome<TAccount>> NotMetAsync(string because, bool isStartedAgain = false)
        {
            gate.Release();
            gate.ThrowIfFailed();
            // What was asked or answered while nothing passed is gone, and a process that lives could wait for it for ever.
            var isStopped = gate.HasStopped;
            if (isStopped && !isStartedAgain)
                await KillAsync(because: "");
            var unsettled = await SettleAsync([chosen], cancellationToken);
            TellOwnEnds(PointPhase.Met);
            var account = await AccountAsync(cancellationToken);
            return new(because)
            {
                Events = events,
                IsKilledElsewhere = isStopped,
                Chosen = chosen,
                Unsettled = unsettled ?? (isStopped ? null : WhyUnsettled(account, events, "the message")),
                Account = account,
            };
        }

        async Task<int> KillAsync(string because)
        {
            TellOwnEnds(PointPhase.Met);
            var code = await subject.KillAsync();
            if (!TellOwnEnds(PointPhase.Met))
                events.Add(new PointEvent(PointPhase.Met, $"the process ended with exit code {code}{because}", IsEnd: true));
            gate.Release();
            await subject.StartAsync(cancellationToken);
            return code;
        }

        // Whether one was after the point was met.
        bool TellOwnEnds(PointPhase phase)
        {
            var byTime = subject.TakeOwnEnds().ToLookup(end => end.AtUtc >= metUtc);
            Tell(PointPhase.Before, [.. byTime[false]]);
            Tell(phase, [.. byTime[true]]);
            return byTime[true].Any();
        }

        void Tell(PointPhase phase, IReadOnlyList<OwnEnd> ends)
        {
            if (ends is not [var first, ..])
                return;
            var codes = ends.Select(end => end.ExitCode).Distinct().ToList();
            var times = ends.Count == 1 ? "" : $" {ends.Count} times";
            var when = first.AtUtc - metUtc is { } after && after >= TimeSpan.Zero
                ? string.Create(CultureInfo.InvariantCulture, $",{(ends.Count == 1 ? "" : " the first time")} {after.TotalSeconds:F1} s after that moment")
                : "";
            events.Add(new PointEvent(
                phase, $"the process ended by itself{times} with exit code{(codes.Count == 1 ? "" : "s")} {string.Join(", ", codes)}{when}", IsEnd: true));
        }

        static string DidNotCome(string? because) => $"this handling did not come to the point{(because is null ? "" : $": {because}")}";
    }

    /// <summary>
    /// Work that is left where no fault was can come from a busy machine. Work that a fault left behind is shown by the points that are met, and a process
    /// that ended by itself was started again.
    /// </summary>
    private string? WhyUnsettled(TAccount account, List<PointEvent> events, string message) =>
        promises.IsWorkLeft(account) && !events.Exists(one => one.IsEnd) ? $"{message} was not handled in time" : null;

    /// <summary>The way in which the process is watched for a while before it is killed: one for each point.</summary>
    private static PointWay WayToWaitIn(CrashPoint point) => PointWay.Cut.Facts().IsPossibleAt(point) ? PointWay.Cut : PointWay.CutBefore;

    public ValueTask DisposeAsync() => subject.DisposeAsync();

    private async Task ThrowIfNotReadyAsync(CancellationToken cancellationToken)
    {
        if (await GetReadyAsync(cancellationToken) is { } account)
            ThrowIfDisturbed("The messages before the experiment", account);
    }

    private void ThrowIfDisturbed(string messages, TAccount account)
    {
        if (promises.WhyDisturbed(account) is { } disturbed)
        {
            throw new KitException(
                $"{messages} were {(promises.IsWorkLeft(account) ? "not handled in time" : "disturbed by nothing")}, and {disturbed}.", subject.Remedy);
        }
    }

    /// <summary>A process that has handled some messages, and has not met a fault.</summary>
    /// <returns>The account of these messages; <see langword="null"/>: it was ready.</returns>
    private async Task<TAccount?> GetReadyAsync(CancellationToken cancellationToken)
    {
        if (isFresh)
            return null;

        if (subject.IsRunning)
            await subject.KillAsync();
        gate.Release();
        var watch = Stopwatch.StartNew();
        await subject.StartAsync(cancellationToken);
        var messages = await SendOrdinaryAsync(cancellationToken);
        if (await SettleAsync(messages, cancellationToken) is { } why)
            throw new KitException($"The messages before the experiment were not handled: {why}.", subject.Remedy);

        var duration = watch.Elapsed;
        isFresh = true;
        var account = await AccountAsync(cancellationToken);
        // Otherwise the kit's own waiting is in it.
        if (promises.WhyDisturbed(account) is null)
        {
            longestStart = Longer(longestStart, duration);
            quiet = Longer(waits.Quiet, Busy * longestStart);
        }

        return account;
    }

    /// <summary>Waits until the message meets the point.</summary>
    /// <returns>The moment; <see langword="null"/>: the message was handled, or nothing happened any more.</returns>
    private async Task<DateTime?> MeetAsync(Guid chosen, CancellationToken cancellationToken)
    {
        using var over = CancellationTokenSource.CreateLinkedTokenSource(cancellationToken);
        var handled = subject.SettleAsync([chosen], OnThisMachine(ToMeet), quiet, over.Token);
        DateTime? metUtc = await Task.WhenAny(gate.Fired, handled) == gate.Fired ? await gate.Fired : null;
        if (metUtc is null)
            await handled;
        // The subject must not look after a process that is about to be killed.
        await over.CancelAsync();
        await ((Task)handled).ConfigureAwait(ConfigureAwaitOptions.SuppressThrowing);
        return metUtc;
    }

    /// <summary>Sends a message while the process can ask nothing, so that the first request that counts is the first after it.</summary>
    private async Task<Guid> SendAsync(Action begin, CancellationToken cancellationToken)
    {
        var message = Guid.CreateVersion7();
        try
        {
            foreach (var proxy in subject.Proxies)
                proxy.Stall(Traffic.ToServer);
            for (var watch = Stopwatch.StartNew(); !gate.IsSettled && watch.Elapsed < ToStop; await Task.Delay(Pause, cancellationToken))
                subject.ThrowIfBroken();
            begin();
            await subject.SendAsync([message], cancellationToken);
        }
        finally
        {
            foreach (var proxy in subject.Proxies)
                proxy.Resume(Traffic.ToServer);
        }

        return message;
    }

    /// <summary>Waits until the messages have been handled, and nothing changes any more.</summary>
    /// <returns>A text that says that it took too long; <see langword="null"/> if it did not.</returns>
    /// <exception cref="KitException">The proxy could not read a connection's bytes, and has cut the connection.</exception>
    private async Task<string?> SettleAsync(IReadOnlyList<Guid> messages, CancellationToken cancellationToken, int? sent = null)
    {
        // Work that stays looks like a process, or a server, that somebody has stopped for a while: it has twice the time.
        var settlement = await subject.SettleAsync(messages, LimitOf(sent ?? messages.Count), 2 * quiet, cancellationToken);
        gate.ThrowIfFailed();
        return settlement.Because;
    }

    /// <summary>True if a process handles all messages although an answer never comes.</summary>
    private async Task<bool> GetsOverAsync(IReadOnlyList<Guid> awaited, Task<IReadOnlyList<Guid>> sending, CancellationToken cancellationToken)
    {
        // The open transaction of a process that waits can lock out those who send.
        if (await Task.WhenAny(sending, Task.Delay(OnThisMachine(ToGetOver), cancellationToken)) != sending)
            return false;

        IReadOnlyList<Guid> messages = [.. awaited, .. await sending];
        return (await subject.SettleAsync(messages, LimitOf(messages.Count), OnThisMachine(ToGetOver), cancellationToken)).IsDone;
    }

    /// <summary>Time limit for this number of messages.</summary>
    private TimeSpan LimitOf(int messages) => ToSettle + (2 * (quiet - waits.Quiet)) + (LongestMessage * messages);

    /// <summary>A time that is enough for a quiet machine, as long as this one needs.</summary>
    private TimeSpan OnThisMachine(TimeSpan time) => time * (quiet / waits.Quiet);

    private static TimeSpan Longer(TimeSpan one, TimeSpan other) => one > other ? one : other;

    private async Task<IReadOnlyList<Guid>> SendOrdinaryAsync(CancellationToken cancellationToken, int count = ToWarmUp)
    {
        List<Guid> messages = [.. Enumerable.Range(0, count).Select(_ => Guid.CreateVersion7())];
        await subject.SendAsync(messages, cancellationToken);
        return messages;
    }

    /// <summary>The account of the messages since the last experiment.</summary>
    private async Task<TAccount> AccountAsync(CancellationToken cancellationToken)
    {
        gate.ThrowIfFailed();
        var account = await subject.AccountAsync(cancellationToken);
        isFresh &= subject.IsRunning;
        return account;
    }
}
