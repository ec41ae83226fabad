using Kit.Prove.Files;
using Kit.Prove.Service;
using Kit.Runner.Measuring;
using Kit.Runner.Results;
using Kit.Runner.Results.Accounts;
using Kit.Runner.Results.Drains;
using Kit.Runner.Servers.Machine;
using Kit.Runner.Wire;

namespace Kit.Prove.Drains;

/// <summary>One measured drain of a service, from new databases to a record. <see cref="RunAsync"/> narrates it.</summary>
/// <param name="disk">Before the first round; <see langword="null"/>: flushes are not timed.</param>
internal sealed class ServiceRound(DrainPlan plan, ProofServers servers, DiskFacts? disk, IProgress<int> progress)
{
    private const int FlushesNextToADrain = 200;

    private static readonly Reading NoDatabase = Reading.Missing("the service has no database of the kit");

    private readonly ProofFile file = plan.File;

    /// <summary>True to measure the service's traffic through the proxies at any distance, and to sample its sessions.</summary>
    public bool IsTraced { get; init; }

    /// <summary>Runs the round. Any failure becomes its outcome; only a cancellation is thrown.</summary>
    public async Task<DrainRound> RunAsync(int number, int attempt, CancellationToken cancellationToken)
    {
        var document = DrainRound.Blank(number, attempt);
        try
        {
            var network = ProxiedNetwork.At(plan.RoundTrip) ?? (IsTraced ? ProxiedNetwork.Loopback : null);
            await using var meter = network is null ? null : new NetworkMeter(network);
            await using var service = await DrainedService.OpenAsync(file, servers, meter, cancellationToken);
            List<Guid> messages = [.. Enumerable.Range(0, plan.WarmUp + plan.Messages).Select(_ => Guid.CreateVersion7())];
            document = document with { SendSeconds = (await service.PutAsync(messages, plan.StallLimit, cancellationToken)).TotalSeconds };

            await service.Bed.SettleAsync(cancellationToken);
            using var clock = WallClock.Watch();
            var own = await servers.ProcessesAsync();
            var clockBefore = await servers.ReadClockAsync(file, cancellationToken);
            var before = await service.Bed.ReadCountersAsync(cancellationToken);
            var flushBefore = MeasureFlush();
            meter?.Start();
            await using var sampler = IsTraced ? await service.Bed.SampleSessionsAsync(cancellationToken) : null;
            var drained = await new Drain(service, plan.StallLimit, progress) { Quiet = plan.Quiet }.RunAsync(messages.Count, cancellationToken);
            if (meter is not null)
            {
                document = document with
                {
                    Network = await meter.StopAsync(messages.Count, service.Bed.MostConnections),
                    Sessions = sampler is null ? null : await sampler.StopAsync(messages.Count),
                };
            }

            var after = await service.Bed.ReadCountersAsync(cancellationToken);
            var flushAfter = MeasureFlush();
            var clockAfter = await servers.ReadClockAsync(file, cancellationToken);
            var lead = ClockLead.Over(clockBefore, clockAfter);

            var left = await service.ReadLeftAsync(cancellationToken);
            var found = await service.ReadFoundAsync(cancellationToken);
            var account = ProofAccount.Of(messages, file.Effects, found, left, []);
            List<string> reasons =
            [
                .. clock.WhyUntrue(ClockLead.Moved(clockBefore, clockAfter)) is { } untrue ? [untrue] : Array.Empty<string>(),
                .. RoundAccount.NotOnce(account.Messages.ToLookup(message => message.Class, message => message.Id), "messages"),
                .. ProofAccount.UnexpectedIn(found, [service.First, .. messages]),
                .. left.Select(work => $"left: {work}"),
            ];
            document = document with
            {
                Accounts = account.Messages.CountBy(message => message.Class).ToDictionary(),
                Noise = NoiseOf(drained, own, service.ProcessId, flushBefore, flushAfter),
                ServerClock = lead?.Compared,
                Costs = await CostsOfAsync(before, after, drained, own, service.ProcessId, messages.Count, cancellationToken),
                Outcome = drained.Stalled is { } stalled ? RoundOutcome.Stalled(TextOf(stalled, service.Handled, messages.Count))
                    : reasons.Count > 0 ? RoundOutcome.Invalid(reasons)
                    : RoundOutcome.Valid,
            };
            if (!document.Outcome.IsValid())
                return document;

            var moments = await service.ReadMomentsAsync(messages, lead?.Ahead ?? TimeSpan.Zero, cancellationToken);
            var most = EffectMoments.MostAtOneMoment(moments, plan.WarmUp);
            var offsets = EffectMoments.OffsetsOf([.. moments.Select(message => message.Done)], plan.WarmUp);
            // A common commit is a burst, too.
            var coarse = EffectMoments.WhyTooCoarse(most, plan.Messages) ?? EffectMoments.WhyInABurst(offsets, plan.Messages);
            return document with
            {
                StartSeconds = Math.Round((moments[0].Done - service.StartedUtc).TotalSeconds, 3),
                OffsetsMilliseconds = offsets,
                MostAtOneMoment = most,
                Outcome = coarse is null ? RoundOutcome.Valid : RoundOutcome.Invalid([coarse]),
            };
        }
        catch (Exception failure) when (!cancellationToken.IsCancellationRequested)
        {
            return document with { Outcome = RoundOutcome.Error(KitException.TextOf(failure)) };
        }
    }

    private static string TextOf(string stalled, int handled, int messages) => handled == 0
        ? $"{stalled}: it handled nothing of {Figures.Count(messages, "message")} that waited when it started, and had handled one alone"
        : $"{stalled}; handled: {Figures.Count(handled)} of {Figures.Count(messages)}";

    private FlushTime? MeasureFlush() => disk is null ? null : FlushTimer.Measure(disk.Folder, FlushesNextToADrain);

    private Noise NoiseOf(Drained drained, IReadOnlyList<int> own, int process, FlushTime? flushBefore, FlushTime? flushAfter)
    {
        if (!servers.AreOwn)
            return CpuUse.NoiseNextToAServerOfOthers;

        var use = drained is { Start: { } start, End: { } end }
            ? CpuUse.Between(start, end, new HashSet<int>([Environment.ProcessId, process, .. own]))
            : null;
        return CpuUse.NoiseOf(use) with { FlushRatio = disk?.RatioOf(flushBefore, flushAfter) };
    }

    private async Task<MessageCosts> CostsOfAsync(
        ServerCounters? before, ServerCounters? after, Drained drained, IReadOnlyList<int> own, int process, int messages,
        CancellationToken cancellationToken)
    {
        Reading CpuOf(IEnumerable<int> processes) => drained is { Start: { } start, End: { } end }
            ? Reading.Of(CpuUse.TimeOf(start, end, processes.ToHashSet()).TotalMilliseconds).Per(messages)
            : Reading.Missing(CpuSample.Support.Because!);

        var (handler, server) = (CpuOf([process]), servers.AreOwn ? CpuOf(own) : CpuUse.OfAServerOfOthers);
        if (before is null || after is null)
            return new MessageCosts(NoDatabase, NoDatabase, NoDatabase, NoDatabase, handler, server);

        var isOwn = servers.IsPostgreSqlOwn;
        return new MessageCosts(
            after.CommitsSince(before).Per(messages),
            isOwn ? after.FlushesSince(before).Per(messages) : ServerCounters.OfAllClients,
            isOwn ? after.WalBytesSince(before).Per(messages) : ServerCounters.OfAllClients,
            isOwn ? (await after.TwoPhaseCommitsSinceAsync(before, servers.PostgreSql!, cancellationToken)).Per(messages) : ServerCounters.OfAllClients,
            handler, server)
        {
            Buffers = after.BuffersSince(before).Per(messages),
        };
    }
}
