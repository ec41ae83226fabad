using System.Diagnostics;
using Kit.Endpoints.Bare;
using Kit.Endpoints.Cells;
using Kit.Runner.Measuring;
using Kit.Runner.Results;
using Kit.Runner.Results.Accounts;
using Kit.Runner.Results.Loads;
using Kit.Runner.Servers.Machine;
using Kit.Runner.Stage;
using Kit.Runner.Stage.Transports;

namespace Kit.Runner.Loads;

/// <summary>One cell under one load, from restored databases to the account of every message.</summary>
/// <param name="between">Time between reports of the progress: 1 s or longer.</param>
/// <param name="tell">Receives the progress.</param>
internal sealed class LoadedCell(
    LoadPlan plan, Cell cell, ServersInUse servers, TimeSpan between, Action<LoadProgress> tell, Action<LoadSample> save)
{
    private readonly CellName name = Provenance.NameOf(cell);

    /// <summary>Runs it. A failure becomes the outcome.</summary>
    /// <param name="stop">Ends the sending. Messages sent by then are handled and accounted for.</param>
    /// <exception cref="OperationCanceledException">It was stopped before the first message was sent.</exception>
    public async Task<LoadResult> RunAsync(LoadShape shape, CancellationToken stop)
    {
        var attempt = new LoadAttempt(name, shape, plan.Length);
        using var noLonger = new CancellationTokenSource();
        await using var wait = stop.Register(() => noLonger.CancelAfter(LoadDriver.ToHandle));
        return await attempt.RunAsync((blank, end) => LoadAsync(attempt, blank, shape, stop, noLonger.Token, end), stop);
    }

    private async Task<LoadResult> LoadAsync(
        LoadAttempt attempt, LoadResult blank, LoadShape shape, CancellationToken stop, CancellationToken noLonger, CancellationToken end)
    {
        await using var stage = await CellStage.OpenAsync(cell, servers, new StageOptions(StageRows.Restored), stop);
        var (restored, queue, made) = (stage.Databases, stage.Queue, stage.Messages);
        await using var effects = EffectsOf(stage);
        await effects.StartAsync(isWaitedFor: shape is ClosedLoad, stop);

        await using var handlers = await stage.StartHandlersAsync(stage.HandlersOf(plan.ConcurrencyOf(cell)) with { KeepsPhases = false }, stop);
        await handlers.StartHandlingAsync(messages: 0, stop);
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
        var load = attempt.Driver = new LoadDriver(handlers, effects, between, tell);
        var cold = await load.UntilHandledAsync(warmUp.Count, stop, stop);
        stop.ThrowIfCancellationRequested();
        if (cold is not null)
            return blank with { Outcome = RoundOutcome.Stalled($"the warm-up made {cold}") };

        // One of them in a mode that needs one database. A broker's cells leave that of the queue empty.
        IReadOnlyList<string> databases = [.. new[] { restored.QueueForRunner(cell), restored.WidgetsForRunner }.Distinct()];
        var sampler = new LoadSampler(name, handlers, queue, databases, save);
        using var clock = WallClock.Watch();
        var aheadBefore = await restored.ClockAheadAsync(stop);
        var before = CpuSample.Take();
        var sent = await load.SendAsync(
            shape,
            plan.Length,
            [.. senders.All.Select(sender => new RoundProducer(sender, made))],
            [
                .. plan.IsSoak ? [over => sampler.RunAsync(plan.Length, () => load.Sent, over)] : Array.Empty<Func<CancellationToken, Task>>(),
                .. plan.HeldSnapshot is { } part
                    ? [over => new HeldSnapshot(databases).RunAsync(part.From, part.To, over)]
                    : Array.Empty<Func<CancellationToken, Task>>(),
            ],
            stop);
        // Their connections are free for the account.
        await senders.DisposeAsync();
        var after = CpuSample.Take();
        // The handler processes are children of this one.
        List<int> own = [.. servers.Processes];
        var stalled = await load.UntilHandledAsync(warmUp.Count + sent.Messages.Count, noLonger, end);
        IReadOnlyList<DrainReport> reports = [];
        try
        {
            reports = await handlers.StopHandlingAsync(end);
        }
        catch (KitException failure) when (stalled is not null)
        {
            stalled = $"{stalled}; {failure.Message}";
        }

        var built = await restored.ReadBuiltAsync(withCommitTime: true, end);
        var ahead = await restored.ClockAheadAsync(end);
        var untrue = clock.WhyUntrue(ahead - aheadBefore);
        var moments = await effects.EndAsync(built.Select(row => (row.MessageId, row.Committed!.Value)), ahead, end);
        var account = RoundAccount.Of(await stage.ReadEvidenceAsync(
            warmUp, [.. sent.Messages.Select(one => made.Find(one.Message)!)], reports.Sum(report => report.Handled), built, plan.SeedRows, end));
        var broken = stalled is not null ? RoundOutcome.Stalled(stalled)
            : effects.Loss is { } loss
                ? RoundOutcome.Invalid([$"the runner no longer knew when messages had their effects: {loss}", .. account.Outcome.Reasons])
            : untrue is not null ? RoundOutcome.Invalid([untrue, .. account.Outcome.Reasons])
            : HandlerProcesses.OutcomeOfIdle([.. reports.Select(report => report.Handled)]) is { } idle
                ? idle with { Reasons = [.. idle.Reasons, .. account.Outcome.Reasons] }
            : null;
        var history = HistoryOf(sent, moments, effects.Told, shape);
        return LoadAttempt.WithCpu(history.Into(blank), before, after, own) with
        {
            Clock = effects.Clock,
            IsStopped = sent.IsStopped,
            Soak = plan.IsSoak ? SoakFigure.Of(sampler.Samples, history, sent.Length.TotalSeconds) : null,
            Parts = plan.HeldSnapshot is { } held
                ? LoadPart.Of(held.From.TotalSeconds, held.To.TotalSeconds, sampler.Samples, history, sent.Length.TotalSeconds)
                : null,
            Outcome = broken ?? account.Outcome,
            IsClockAlone = (broken ?? account.Outcome).Reasons is [var only] && only == untrue,
            IsDeadLetteredAlone = broken is null && account.IsDeadLetteredAlone,
            Accounts = account.Counts,
        };
    }

    /// <summary>The effects of a cell, not yet started.</summary>
    private static Effects EffectsOf(CellStage stage) => (stage.Cell.Scenario.Rows, Transport.Of(stage.Cell).Arrivals) switch
    {
        (1, _) => new CommittedRows(stage.Databases.WidgetsForRunner),
        (0, ArrivalClock.CommitTimestamps) => new CommittedSends(stage.Cell, stage.Place),
        (0, ArrivalClock.Receipt) => new ReceivedSends(stage.Sinks, stage.Messages),
        _ => throw new UnreachableException($"Nobody tells when a message of {stage.Cell} has had its effect."),
    };

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
            Unsent = [.. sent.Unsent.Select(one => new LoadedMessage(At(one.Due), At(one.Begun), Done: null))],
            Ramp = (shape as ClosedLoad)?.Ramp.TotalSeconds ?? 0,
            Timeout = (shape as ClosedLoad)?.Timeout.TotalMilliseconds,
        };

        double? Of(Guid message, IReadOnlyDictionary<Guid, DateTimeOffset> known) =>
            known.TryGetValue(message, out var moment) ? At(moment) : null;

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

/// <summary>Sends messages of a round to its queue, on a connection of its own.</summary>
internal sealed class RoundProducer(IMessageQueue queue, RoundMessages messages) : IProducer
{
    public Task SendAsync(IReadOnlyCollection<Guid> ids, CancellationToken cancellationToken) =>
        queue.PreloadAsync([.. ids.Select(messages.Next)], cancellationToken);
}
