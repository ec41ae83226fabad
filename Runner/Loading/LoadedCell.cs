using System.Diagnostics;
using Kit.Endpoints.Bare;
using Kit.Endpoints.Cells;
using Kit.Handlers;
using Kit.Runner.Results;
using Kit.Runner.Results.Accounts;
using Kit.Runner.Results.Loads;
using Kit.Runner.Servers.Machine;
using Kit.Runner.Stage;
using Kit.Runner.Transports;

namespace Kit.Runner.Loading;

/// <summary>The progress of a load.</summary>
/// <param name="Elapsed">Since the schedule's start.</param>
/// <param name="Failed">Attempts whose handler has thrown.</param>
internal sealed record LoadProgress(CellName Cell, TimeSpan Elapsed, int Sent, int Handled, int Failed)
{
    /// <summary>The median of messages that came since the last progress, in ms; <see langword="null"/>: unknown.</summary>
    public double? Latency { get; init; }
}

/// <summary>One cell under one load, from restored databases to the account of every message.</summary>
/// <param name="between">Time between reports of the progress: 1 s or longer.</param>
/// <param name="tell">Receives the progress.</param>
internal sealed class LoadedCell(
    LoadPlan plan, Cell cell, ServersInUse servers, TimeSpan between, Action<LoadProgress> tell, Action<LoadSample> save)
{
    private static readonly TimeSpan Look = TimeSpan.FromMilliseconds(50);
    private static readonly TimeSpan BetweenLooks = TimeSpan.FromSeconds(1);
    private static readonly TimeSpan Stalled = TimeSpan.FromSeconds(30);

    // A stopped load still has to say what became of its messages: it waits for them, and then needs time for their account.
    private static readonly TimeSpan ToHandle = TimeSpan.FromSeconds(30);
    private static readonly TimeSpan ToAccount = 2 * ToHandle;

    private readonly CellName name = Provenance.NameOf(cell);

    private ConfirmedSends? confirmed;
    private Stopwatch? sinceStart;

    /// <summary>Runs it. A failure becomes the outcome.</summary>
    /// <param name="stop">Ends the sending. Messages sent by then are handled and accounted for.</param>
    /// <exception cref="OperationCanceledException">It was stopped before the first message was sent.</exception>
    public async Task<LoadResult> RunAsync(LoadShape shape, CancellationToken stop)
    {
        var blank = new LoadResult
        {
            Cell = name,
            Rate = (shape as OpenLoad)?.Rate,
            Users = (shape as ClosedLoad)?.Users,
            Outcome = RoundOutcome.Error("it did not get that far"),
        };
        using var noLonger = new CancellationTokenSource();
        using var end = new CancellationTokenSource();
        await using var last = stop.Register(() =>
        {
            noLonger.CancelAfter(ToHandle);
            end.CancelAfter(ToAccount);
        });
        try
        {
            return await LoadAsync(blank, shape, stop, noLonger.Token, end.Token);
        }
        catch (OperationCanceledException) when (end.IsCancellationRequested)
        {
            return Unfinished(RoundOutcome.Stalled($"it was stopped, and its account was not complete within {ToAccount.TotalSeconds} s"));
        }
        catch (Exception failure) when (failure is not OperationCanceledException || !stop.IsCancellationRequested)
        {
            return Unfinished(RoundOutcome.Error(KitException.TextOf(failure)));
        }

        // What is known of a load that failed before its account.
        LoadResult Unfinished(RoundOutcome outcome) => blank with
        {
            IsStopped = stop.IsCancellationRequested,
            Sent = confirmed?.Count ?? 0,
            Seconds = Math.Round(Math.Min(plan.Length.TotalSeconds, sinceStart?.Elapsed.TotalSeconds ?? 0), 3),
            Outcome = outcome,
        };
    }

    private async Task<LoadResult> LoadAsync(
        LoadResult blank, LoadShape shape, CancellationToken stop, CancellationToken noLonger, CancellationToken end)
    {
        await using var stage = await CellStage.OpenAsync(cell, servers, new StageOptions(StageRows.Restored), stop);
        var (restored, queue, made) = (stage.Databases, stage.Queue, stage.Messages);
        await using var effects = Effects.Of(stage);
        await effects.StartAsync(isWaitedFor: shape is ClosedLoad, stop);

        await using var handlers = await HandlerProcesses.StartAsync(
            cell.Processes.Count,
            stage.HandlersOf(plan.ConcurrencyOf(cell)) with { KeepsPhases = false },
            stop);
        await handlers.StartEndpointsAsync(messages: 0, stop);
        await using var senders = new OpenQueues(
            [.. Enumerable.Range(0, plan.Senders)
                .Select(_ => cell.Kind.OpenQueue(stage.Place.Queue, Transport.Of(cell).ForManyUses(stage.Place.ForRunner)))]);
        var warmUp = made.New(plan.WarmUp);
        // The first sends of a connection take longer, so each sends one of the warm-up messages alone, as it will send each.
        foreach (var (place, sender) in senders.All.Index())
        {
            await sender.CountAsync(stop);
            await sender.PreloadAsync([.. warmUp.Skip(place).Take(1)], stop);
        }

        await queue.PreloadAsync([.. warmUp.Skip(plan.Senders)], stop);
        var cold = await UntilHandledAsync(handlers, queue, warmUp.Count, stop, stop);
        stop.ThrowIfCancellationRequested();
        if (cold is not null)
            return blank with { Outcome = RoundOutcome.Stalled($"the warm-up made {cold}") };

        // One of them in a mode that needs one database. A broker's cells leave that of the queue empty.
        IReadOnlyList<string> databases = [.. new[] { restored.QueueForRunner(cell.Mode), restored.WidgetsForRunner }.Distinct()];
        var sampler = new LoadSampler(name, handlers, queue, databases, save);
        using var clock = WallClock.Watch();
        var aheadBefore = await restored.ClockAheadAsync(stop);
        var before = CpuSample.Take();
        var sent = await SendAsync(
            sends => SenderOf(shape, senders.All, made.Next, effects, sends), effects, handlers, sampler, new HeldSnapshot(databases), stop);
        // Their connections are free for the account.
        await senders.DisposeAsync();
        var after = CpuSample.Take();
        // The handler processes are children of this one.
        var others = before is not null && after is not null
            ? CpuUse.Between(before, after, new HashSet<int>([Environment.ProcessId, .. servers.Processes]))
            : null;
        var stalled = await UntilHandledAsync(handlers, queue, warmUp.Count + sent.Messages.Count, noLonger, end);
        IReadOnlyList<DrainReport> reports = [];
        try
        {
            reports = await handlers.StopEndpointsAsync(end);
        }
        catch (KitException failure) when (stalled is not null)
        {
            stalled = $"{stalled}; {failure.Message}";
        }

        var built = await restored.ReadBuiltAsync(withCommitTime: true, end);
        var ahead = await restored.ClockAheadAsync(end);
        var untrue = clock.WhyUntrue(ahead - aheadBefore);
        var moments = await effects.EndAsync(built, ahead, end);
        var account = RoundAccount.Of(await stage.ReadEvidenceAsync(
            warmUp, [.. sent.Messages.Select(one => one.Message)], reports.Sum(report => report.Handled), built, plan.SeedRows, end));
        var broken = stalled is not null ? RoundOutcome.Stalled(stalled)
            : effects.Loss is { } loss
                ? RoundOutcome.Invalid([$"the runner no longer knew when messages had their effects: {loss}", .. account.Outcome.Reasons])
            : untrue is not null ? RoundOutcome.Invalid([untrue, .. account.Outcome.Reasons])
            : HandlerProcesses.OutcomeOfIdle([.. reports.Select(report => report.Handled)]) is { } idle
                ? idle with { Reasons = [.. idle.Reasons, .. account.Outcome.Reasons] }
            : null;
        var history = HistoryOf(sent, moments, effects.Told, shape);
        return history.Into(blank) with
        {
            Clock = effects.Clock,
            OtherCpuShare = others is null ? null : Math.Round(others.OthersShare, 3),
            BusiestOther = others?.Busiest?.Name,
            CpuShare = before is not null && after is not null ? Math.Round(CpuUse.BusyBetween(before, after), 3) : null,
            IsStopped = sent.IsStopped,
            Soak = plan.IsSoak ? SoakFigure.Of(sampler.Samples, history, sent.Length.TotalSeconds) : null,
            Parts = plan.HeldSnapshot is { } held
                ? LoadPart.Of(held.From.TotalSeconds, held.To.TotalSeconds, sampler.Samples, history, sent.Length.TotalSeconds)
                : null,
            Outcome = broken ?? account.Outcome,
            IsDeadLetteredAlone = broken is null && account.IsDeadLetteredAlone,
            Accounts = account.Counts,
        };
    }

    private ILoadSender SenderOf(
        LoadShape shape, IReadOnlyList<IMessageQueue> queues, Func<BuildWidget> newMessage, Effects effects, ConfirmedSends sends) => shape switch
        {
            OpenLoad open => new LoadSender(queues, new Schedule(open.Rate, plan.Length, open.Pauses), newMessage, sends),
            ClosedLoad closed => new LoadUsers(queues, closed, plan.Length, newMessage, effects, sends),
            _ => throw new UnreachableException($"Nobody sends a {shape.GetType().Name}."),
        };

    private async Task<SentLoad> SendAsync(
        Func<ConfirmedSends, ILoadSender> senderOf, Effects effects, HandlerProcesses handlers, LoadSampler sampler, HeldSnapshot snapshot,
        CancellationToken stop)
    {
        using var ending = CancellationTokenSource.CreateLinkedTokenSource(stop);
        using var over = new CancellationTokenSource();
        Task<SentLoad>? sending = null;
        IReadOnlyList<Task> meanwhile = [];
        try
        {
            var sends = confirmed = new ConfirmedSends(ConfirmedSends.Longest);
            var sender = senderOf(sends);
            var latency = new LiveLatency(sends, effects);
            var (before, failedBefore) = (handlers.Handled, handlers.Failed);
            var watch = sinceStart = Stopwatch.StartNew();
            LoadProgress? latest = null;
            var told = 0;
            // Both counts of one moment: the number of handled messages is told four times a second.
            handlers.Progressed = () => latest = new LoadProgress(
                name, watch.Elapsed, sends.Count, handlers.Handled - before, handlers.Failed - failedBefore);
            sending = sender.RunAsync(ending.Token);
            meanwhile =
            [
                .. plan.IsSoak ? [sampler.RunAsync(plan.Length, () => sends.Count, over.Token)] : Array.Empty<Task>(),
                .. plan.HeldSnapshot is { } held ? [snapshot.RunAsync(held.From, held.To, over.Token)] : Array.Empty<Task>(),
            ];
            while (!sending.IsCompleted)
            {
                await Task.WhenAny(sending, Task.Delay(BetweenLooks, CancellationToken.None));
                // The load has failed: messages of hours would only wait.
                if (handlers.IsBroken || effects.Loss is not null || meanwhile.Any(task => task.IsFaulted))
                    await ending.CancelAsync();
                if (latest is not { } progress || sending.IsCompleted || (int)(progress.Elapsed / between) == told)
                    continue;
                told = (int)(progress.Elapsed / between);
                tell(progress with { Latency = await latency.ReadAsync() });
            }

            var sent = await sending;
            handlers.ThrowIfBroken();
            await over.CancelAsync();
            await Task.WhenAll(meanwhile);
            return sent;
        }
        finally
        {
            handlers.Progressed = null;
            await over.CancelAsync();
            await ending.CancelAsync();
            // Whatever has failed, nobody uses the queues any more.
            await Task.WhenAll([.. meanwhile, sending ?? Task.CompletedTask]).ContinueWith(_ => { }, TaskScheduler.Default);
        }
    }

    /// <summary>Waits until that many messages are handled and the queue is empty.</summary>
    /// <param name="noLonger">Ends the waiting: the queue is counted for the last time.</param>
    /// <param name="end">Ends that count, too: a server need not answer.</param>
    /// <returns>The reason why it gave up; <see langword="null"/> if it did not.</returns>
    private static async Task<string?> UntilHandledAsync(
        HandlerProcesses handlers, IMessageQueue queue, int messages, CancellationToken noLonger, CancellationToken end)
    {
        var (handled, left) = (-1, -1L);
        for (var since = Stopwatch.StartNew(); since.Elapsed < Stalled; await Task.Delay(Look, CancellationToken.None))
        {
            if (noLonger.IsCancellationRequested)
            {
                left = await queue.CountAsync(end);
                return left == 0
                    ? null
                    : $"it was stopped, and {Figures.Count(left, "message")} still had to be handled after {ToHandle.TotalSeconds} s";
            }

            handlers.ThrowIfBroken();
            var handledNow = handlers.Handled;
            // Failed handlers are not counted as handled, so after a pause the queue itself is asked.
            var leftNow = handledNow >= messages || since.Elapsed > BetweenLooks ? await queue.CountAsync(end) : left;
            if (leftNow == 0 && (handledNow >= messages || since.Elapsed > Stalled / 3))
                return null;
            if ((handledNow, leftNow) == (handled, left))
                continue;
            (handled, left) = (handledNow, leftNow);
            since.Restart();
        }

        return $"no progress for {Stalled.TotalSeconds} s with {left} messages left";
    }

    private static LoadHistory HistoryOf(
        SentLoad sent, IReadOnlyDictionary<Guid, DateTimeOffset> moments, IReadOnlyDictionary<Guid, DateTimeOffset> told, LoadShape shape)
    {
        return new LoadHistory(
            [
                .. sent.Messages.Select(one => new LoadedMessage(
                    At(one.Due), At(one.Begun), Of(one.Message, moments))
                {
                    Told = Of(one.Message, told),
                }),
            ],
            sent.Length.TotalSeconds)
        {
            Ramp = (shape as ClosedLoad)?.Ramp.TotalSeconds ?? 0,
            Timeout = (shape as ClosedLoad)?.Timeout.TotalMilliseconds,
        };

        double? Of(BuildWidget message, IReadOnlyDictionary<Guid, DateTimeOffset> known) =>
            known.TryGetValue(message.MessageId, out var moment) ? At(moment) : null;

        double At(DateTimeOffset moment) => (moment - sent.Start).TotalMilliseconds;
    }

    /// <summary>Queues that send on connections of their own.</summary>
    private sealed class OpenQueues(IReadOnlyList<IMessageQueue> queues) : IAsyncDisposable
    {
        public IReadOnlyList<IMessageQueue> All { get; private set; } = queues;

        /// <summary>Closes the connections of the queues. It can be called twice.</summary>
        public async ValueTask DisposeAsync()
        {
            var open = All;
            All = [];
            foreach (var each in open)
                await each.DisposeAsync();
        }
    }
}
