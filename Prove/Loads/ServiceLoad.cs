using Kit.Guarantees;
using Kit.Prove.Files;
using Kit.Prove.Service;
using Kit.Runner.Measuring;
using Kit.Runner.Results;
using Kit.Runner.Results.Accounts;
using Kit.Runner.Results.Loads;
using Kit.Runner.Servers.Machine;
using Kit.Runner.Wire;

namespace Kit.Prove.Loads;

/// <summary>One load of a service, from new databases to the account of every message. <see cref="RunAsync"/> narrates it.</summary>
/// <param name="between">Time between reports of the progress: 1 s or longer.</param>
/// <param name="tell">Receives the progress.</param>
internal sealed class ServiceLoad(ServiceLoadPlan plan, ProofServers servers, TimeSpan between, Action<LoadProgress> tell)
{
    /// <summary>Time for a start and a message, and for the warm-up.</summary>
    private static readonly TimeSpan ToPrepare = TimeSpan.FromSeconds(60);

    private readonly ProofFile file = plan.File;

    /// <summary>Runs it. A failure while messages are sent, or later, becomes the outcome.</summary>
    /// <param name="stop">Ends the sending. Messages sent by then are handled and accounted for.</param>
    /// <exception cref="OperationCanceledException">It was stopped before the first message was sent.</exception>
    /// <exception cref="KitException">The service does not handle what comes before that.</exception>
    public async Task<LoadResult> RunAsync(LoadShape shape, CancellationToken stop)
    {
        using var noLonger = new CancellationTokenSource();
        await using var wait = stop.Register(() => noLonger.CancelAfter(LoadDriver.ToHandle));
        var attempt = new LoadAttempt(CellName.OfService(file.Name), shape, plan.Length) { ThrowsBeforeDriver = true };
        return await attempt.RunAsync((blank, end) => LoadAsync(attempt, blank, shape, stop, noLonger.Token, end), stop);
    }

    private async Task<LoadResult> LoadAsync(
        LoadAttempt attempt, LoadResult blank, LoadShape shape, CancellationToken stop, CancellationToken noLonger, CancellationToken end)
    {
        await using var meter = ProxiedNetwork.At(plan.RoundTrip) is { } network ? new NetworkMeter(network) : null;
        await using var service = await LoadedService.OpenAsync(file, servers, meter, stop);
        await service.PrepareAsync(ToPrepare, stop);
        var producers = await service.OpenProducersAsync(plan.Senders, plan.Timeout, noLonger, stop);
        List<Guid> warmUp = [.. Enumerable.Range(0, plan.WarmUp).Select(_ => Guid.CreateVersion7())];
        // The first sends of a connection take longer.
        await Task.WhenAll(producers.Select((producer, place) => producer.WarmUpAsync([.. warmUp.Where((_, at) => at % producers.Count == place)], stop)));
        if (!await service.AreAllHandledAsync(ToPrepare, stop))
        {
            throw new KitException(
                $"{file.Path}: of {Figures.Count(plan.WarmUp, "message")} to warm up, not all were handled within {ToPrepare.TotalSeconds} s.",
                "Give a smaller --warm-up, or look into the service's log.");
        }

        var own = await servers.ProcessesAsync();
        using var clock = WallClock.Watch();
        var clockBefore = await servers.ReadClockAsync(file, stop);
        service.Effects.Correct(clockBefore?.Ahead ?? TimeSpan.Zero);
        var before = CpuSample.Take();
        // A send has one message, so one that waits for others of its sender is late, and is shown so.
        var driver = attempt.Driver = new LoadDriver(service, service.Effects, between, tell)
        {
            MostAtOnce = 1,
            // What is refused is given up before that: no try of a service or a command takes longer than the patience.
            LongestSend = plan.Timeout + Sender.Patience,
        };
        var sent = await driver.SendAsync(shape, plan.Length, producers, [], stop);
        var after = CpuSample.Take();
        await service.AreAllHandledAsync(LeftAfter(sent), end);
        var process = service.ProcessId;
        await service.StopHandlingAsync(end);
        var moments = await service.Effects.EndAsync([], TimeSpan.Zero, end);
        var clockAfter = await servers.ReadClockAsync(file, end);
        var (found, left) = (await service.ReadFoundAsync(end), await service.ReadLeftAsync(end));
        // What was refused and has no effect is not lost, and has failed.
        var account = ProofAccount.Of(sent.Messages.Select(one => one.Message), file.Effects, found, left, []).Messages
            .Where(message => message.Class is not DeliveryClass.Lost || !service.NotAccepted.ContainsKey(message.Id)).ToList();
        var complete = account.Where(message => message.Class is DeliveryClass.Once or DeliveryClass.Duplicated or DeliveryClass.DuplicatedOutgoing)
            .Select(message => message.Id).ToHashSet();
        var history = new LoadHistory(
            [
                .. sent.Messages.Select(one => new LoadedMessage(
                    At(one.Due), At(one.Begun), complete.Contains(one.Message) && moments.TryGetValue(one.Message, out var done) ? At(done) : null)
                {
                    Told = service.Effects.Told.TryGetValue(one.Message, out var told) ? At(told) : null,
                }),
            ],
            sent.Length.TotalSeconds)
        {
            Unsent = [.. sent.Unsent.Select(one => new LoadedMessage(At(one.Due), At(one.Begun), Done: null))],
            Ramp = (shape as ClosedLoad)?.Ramp.TotalSeconds ?? 0,
            Timeout = plan.Timeout.TotalMilliseconds,
        };
        var untrue = clock.WhyUntrue(ClockLead.Moved(clockBefore, clockAfter));
        IReadOnlyList<string> reasons =
        [
            .. untrue is null ? Array.Empty<string>() : [untrue],
            .. RoundAccount.NotOnce(account.ToLookup(message => message.Class, message => message.Id), "messages"),
            .. Named(
                $"messages that were not accepted ({service.NotAccepted.Values.LastOrDefault()})",
                sent.Messages.Where(one => service.NotAccepted.ContainsKey(one.Message))),
            .. Named(
                $"messages with an effect later than {Figures.Measured(plan.Timeout.TotalSeconds)} s",
                sent.Messages.Where(one => complete.Contains(one.Message) && moments.TryGetValue(one.Message, out var done) && done - one.Due > plan.Timeout)),
            .. Named(
                "messages whose effects are there, and no commit tells since when",
                sent.Messages.Where(one => complete.Contains(one.Message) && !moments.ContainsKey(one.Message))),
            .. ProofAccount.UnexpectedIn(found, [service.First, service.Second, .. warmUp, .. sent.Messages.Select(one => one.Message)]),
            .. left.Select(work => $"left: {work}"),
        ];
        var loaded = LoadAttempt.WithCpu(history.Into(blank), before, after, [process, .. own]);
        // A server of the user's on this machine cannot be told apart from other programs.
        return loaded with
        {
            OtherCpuShare = servers.AreOwn ? loaded.OtherCpuShare : null,
            BusiestOther = servers.AreOwn ? loaded.BusiestOther : null,
            Clock = service.Effects.Clock,
            ServerClock = ClockLead.Over(clockBefore, clockAfter)?.Compared,
            IsStopped = sent.IsStopped,
            Refusals = service.Refusals,
            LastRefusal = service.LastRefusal,
            Outcome = reasons.Count > 0 ? RoundOutcome.Invalid(reasons) : RoundOutcome.Valid,
            IsClockAlone = reasons is [var only] && only == untrue,
            IsDeadLetteredAlone = IsDeadLetteredAlone(reasons, account.Select(message => message.Class)),
            Accounts = Enum.GetValues<DeliveryClass>().ToDictionary(kind => kind, kind => account.Count(message => message.Class == kind)),
        };

        double At(DateTimeOffset moment) => (moment - sent.Start).TotalMilliseconds;
    }

    /// <summary>True if dead letters are the only reason.</summary>
    internal static bool IsDeadLetteredAlone(IReadOnlyList<string> reasons, IEnumerable<DeliveryClass> classes) =>
        reasons.Count == 1 && classes.Where(kind => kind is not DeliveryClass.Once).Distinct().ToList() is [DeliveryClass.CleanError];

    /// <summary>Time that the last message still has. After a stop nobody waits long.</summary>
    private TimeSpan LeftAfter(SentLoad sent)
    {
        var left = sent.Start + sent.Length + plan.Timeout - DateTimeOffset.UtcNow;
        return sent.IsStopped && left > LoadDriver.ToHandle ? LoadDriver.ToHandle : left;
    }

    private static IEnumerable<string> Named(string what, IEnumerable<SentMessage> messages)
    {
        List<Guid> ids = [.. messages.Select(one => one.Message)];
        return ids.Count == 0 ? [] : [$"{what}: {Figures.Count(ids.Count)} ({RoundAccount.ExamplesOf(ids)})"];
    }
}
