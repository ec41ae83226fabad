using System.Diagnostics;
using System.Transactions;
using Kit.Endpoints.Cells;
using Kit.Handlers;
using Kit.Runner.Measuring;
using Kit.Runner.Results;
using Kit.Runner.Results.Accounts;
using Kit.Runner.Rounds.Joining;
using Kit.Runner.Servers.Machine;
using Kit.Runner.Stage;
using Kit.Runner.Stage.Databases;
using Kit.Runner.Stage.Transports;

namespace Kit.Runner.Rounds;

/// <summary>One measured drain of one cell, from a restored database to a record. <see cref="RunAsync"/> narrates it.</summary>
internal sealed class Round(RoundSettings settings, Cell cell, IProgress<int> progress)
{
    private const int FlushesNextToADrain = 200;

    private static readonly Reading NotReached = Reading.Missing("the round did not get that far");

    private static readonly Reading OnOtherMachines = Reading.Missing("the handlers ran on other machines");

    private static readonly Reading NotCounted = Reading.Missing("the kit reads no counters of this server");

    private readonly RunSettings sizes = settings.Sizes;

    private int SeedRows => cell.Condition.IsEmpty ? 0 : sizes.SeedRows;

    /// <summary>Runs the round. Any failure becomes its outcome; only a cancellation is thrown.</summary>
    public async Task<RoundDocument> RunAsync(int number, int attempt, CancellationToken cancellationToken)
    {
        var together = sizes with { Concurrency = sizes.Concurrency * cell.Processes.Count };
        var document = RoundDocument.Blank(Provenance.NameOf(cell), number, attempt, together, settings.Clock, NotReached);
        try
        {
            await using var stage = await CellStage.OpenAsync(
                cell, settings.Queues, settings.Widgets, new StageOptions(StageRows.Restored), cancellationToken);
            var (restored, queue) = (stage.Databases, stage.Queue);
            document = document with { RestoreSeconds = stage.RestoreTime.TotalSeconds };
            await VerifyResetAsync(stage, cancellationToken);

            await using var network = new RoundNetwork(cell, stage.Place.ForEndpoint, restored.WidgetsForEndpoint);
            await using var handlers = await StartHandlersAsync(stage, network, cancellationToken);
            var drain = new Drain(handlers, Drain.DefaultStallLimit, progress);

            using var clock = WallClock.Watch();
            var aheadBefore = await restored.ClockAheadAsync(cancellationToken);
            var warmUp = stage.Messages.New(sizes.WarmUp);
            await queue.PreloadAsync(warmUp, cancellationToken);
            // Nobody listens to this progress: its messages are not those of the round.
            var cold = await new Drain(handlers, Drain.WarmUpStallLimit, new Progress<int>()).RunAsync(warmUp.Count, cancellationToken);
            // Its endpoint may still be stopping, and what it left would be drained on the clock.
            if (cold.WhyIncomplete(warmUp.Count) is { } incomplete)
                return document with { Outcome = RoundOutcome.Invalid([$"the warm-up did not handle each message once: {incomplete}"]) };

            var messages = stage.Messages.New(sizes.Messages);
            var watch = Stopwatch.StartNew();
            await queue.PreloadAsync(messages, cancellationToken);
            document = document with { PreloadSeconds = watch.Elapsed.TotalSeconds };

            await restored.SettleAsync(cell, cancellationToken);
            await using var held = cell.Condition.HoldsPrepared
                ? await HeldTransaction.HoldAsync(restored.QueueForRunner(cell), cancellationToken)
                : null;
            var before = await restored.ReadCountersAsync(cancellationToken);
            var flushBefore = MeasureFlush();
            network.StartMeasuring();
            var drained = await drain.RunAsync(messages.Count, cancellationToken);
            var networkUse = await network.StopMeasuringAsync(messages.Count);
            var after = await restored.ReadCountersAsync(cancellationToken);
            var flushAfter = MeasureFlush();
            if (held is not null)
                await held.DisposeAsync();

            var built = await restored.ReadBuiltAsync(settings.Clock is ClockSource.CommitTimestamps, cancellationToken);
            var aheadAfter = await restored.ClockAheadAsync(cancellationToken);
            var untrue = clock.WhyUntrue(aheadAfter - aheadBefore);
            // The handlers of workers have already asked the server's clock.
            var ahead = settings.Workers is null ? aheadAfter : TimeSpan.Zero;
            var account = RoundAccount.Of(
                await stage.ReadEvidenceAsync(warmUp, messages, warmUp.Count + drained.Report.Handled, built, SeedRows, cancellationToken));
            var use = UseOf(drained, handlers);
            // What a clock said that made a step is no time.
            var (start, offsets) = untrue is null ? TimesOf(drained.Report, messages, built, ahead) : (null, []);
            var coldOffsets = untrue is null ? TimesOf(cold.Report, warmUp, built, ahead).Offsets : [];
            return document with
            {
                Outcome = drained switch
                {
                    { Stalled: { } stalled } => RoundOutcome.Stalled(stalled),
                    _ when untrue is not null => RoundOutcome.Invalid([untrue, .. account.Outcome.Reasons]),
                    _ when held is { HasLasted: false } => RoundOutcome.Invalid(["the prepared transaction did not last for the whole drain"]),
                    _ when HandlerProcesses.OutcomeOfIdle(drained.HandledByEach) is { } idle => idle,
                    { Report.OneHasWaited: false } => RoundOutcome.Invalid(["no handler has waited until all other messages were handled"]),
                    _ => account.Outcome,
                },
                Accounts = account.Counts,
                FirstHandlerEntryUtc = start,
                HandlerEntries = drained.Report.Entries,
                Handled = drained.Report.Handled,
                HandledByEach = drained.HandledByEach.Count > 1 ? drained.HandledByEach : null,
                OffsetsMilliseconds = offsets,
                ColdPerSecond = new Throughput(coldOffsets).AveragePerSecond,
                Promotions = Transport.Of(cell).CanPromote ? drained.Report.Promotions : null,
                SecondPhase = drained.Report.SecondPhase,
                Batch = drained.Report.Batch,
                ServiceTime = drained.Report.ServiceTime,
                Network = networkUse,
                Noise = NoiseOf(use) with { FlushRatio = settings.Disk?.RatioOf(flushBefore, flushAfter) },
                Costs = await CostsOfAsync(restored.WidgetsForRunner, before, after, drained, handlers, cancellationToken),
            };
        }
        catch (WorkerLostException lost)
        {
            cancellationToken.ThrowIfCancellationRequested();
            return document with { Outcome = RoundOutcome.Invalid([lost.Message]) };
        }
        catch (Exception failure) when (!cancellationToken.IsCancellationRequested)
        {
            return document with
            {
                Outcome = RoundOutcome.Error(KitException.TextOf(failure)),
            };
        }
    }

    private Task<HandlerProcesses> StartHandlersAsync(CellStage stage, RoundNetwork network, CancellationToken cancellationToken) =>
        stage.StartHandlersAsync(
            stage.HandlersOf(sizes.Concurrency) with
            {
                Transport = network.Queues,
                Widgets = network.Widgets,
                RecordCompletions = settings.Clock is ClockSource.HandlerCompletions,
                // The longest that .NET allows.
                TransactionTimeout = cell.Condition.IsOneSlow ? TransactionManager.MaximumTimeout : null,
                AsksServerForItsEntry = settings.Workers is not null,
            },
            cancellationToken,
            settings.Workers is { } workers ? number => workers.Handler(number, cell.Condition.IsTiered) : null);

    private async Task VerifyResetAsync(CellStage stage, CancellationToken cancellationToken)
    {
        var (rows, depth) = (await stage.Databases.CountAsync(cancellationToken), await stage.Queue.CountAsync(cancellationToken));
        if (rows != SeedRows || depth != 0)
        {
            throw new KitException(
                $"The restored databases hold {rows} rows and {depth} messages, expected {SeedRows} and 0.",
                "Another program wrote to them: run on the kit's own server.");
        }
    }

    /// <summary>The start of the clock, and the milliseconds from then until each message was done.</summary>
    private (DateTimeOffset? Start, List<double> Offsets) TimesOf(
        DrainReport report, List<BuildWidget> messages, IReadOnlyList<BuiltWidget> built, TimeSpan serverAhead)
    {
        if (report.FirstEntryUtc is not { } first)
            return (null, []);

        var ids = messages.Select(message => message.MessageId).ToHashSet();
        var moments = settings.Clock is ClockSource.CommitTimestamps
            ? built.Where(widget => ids.Contains(widget.MessageId)).Select(widget => widget.Committed!.Value - serverAhead)
            : report.CompletionsUtc;
        var ordered = moments.Order().ToList();
        // A worker's question for the server's clock can arrive there after the first commit, and the entry was before both.
        if (settings.Workers is not null && ordered.Count > 0 && ordered[0] < first)
            first = ordered[0];
        return (first, [.. ordered.Select(moment => Math.Round((moment - first).TotalMilliseconds, 3))]);
    }

    private CpuUse? UseOf(Drained drained, HandlerProcesses handlers)
    {
        if (drained is not { Start: { } start, End: { } end })
            return null;

        // The handler processes are children of this one, if they are on this machine. The kit's own servers run in every round, whether the cell uses
        // them or not.
        return CpuUse.Between(
            start, end, new HashSet<int>([Environment.ProcessId, .. handlers.Ids ?? [], .. settings.Processes]));
    }

    private Noise NoiseOf(CpuUse? use) => settings.ServerProcesses is null ? CpuUse.NoiseNextToAServerOfOthers : CpuUse.NoiseOf(use);

    private async Task<MessageCosts> CostsOfAsync(
        string database, ServerCounters? before, ServerCounters? after, Drained drained, HandlerProcesses handlers, CancellationToken cancellationToken)
    {
        // The counters are sums over the rows' server and the queue's, if that is another database server.
        var isOwn = settings.Widgets.IsOwn && settings.Queues is not DatabaseInUse { IsOwn: false };
        var ofAllClients = ServerCounters.OfAllClients;
        var server = settings.ServerProcesses is { } servers ? CpuOf(drained, servers) : CpuUse.OfAServerOfOthers;
        var handler = handlers.Ids is { } ids ? CpuOf(drained, ids) : OnOtherMachines;
        if (before is null || after is null)
            return new MessageCosts(NotCounted, NotCounted, NotCounted, NotCounted, handler, server) { Buffers = NotCounted };

        return new MessageCosts(
            after.CommitsSince(before).Per(sizes.Messages),
            isOwn ? after.FlushesSince(before).Per(sizes.Messages) : ofAllClients,
            isOwn ? after.WalBytesSince(before).Per(sizes.Messages) : ofAllClients,
            isOwn ? (await after.TwoPhaseCommitsSinceAsync(before, database, cancellationToken)).Per(sizes.Messages) : ofAllClients,
            handler,
            server)
        {
            Buffers = after.BuffersSince(before).Per(sizes.Messages),
        };
    }

    private FlushTime? MeasureFlush() => settings.Disk is { } disk && settings.Widgets.IsOwn ? FlushTimer.Measure(disk.Folder, FlushesNextToADrain) : null;

    private Reading CpuOf(Drained drained, IReadOnlyList<int> processes) => drained is { Start: { } start, End: { } end }
        ? Reading.Of(CpuUse.TimeOf(start, end, processes.ToHashSet()).TotalMilliseconds).Per(sizes.Messages)
        : Reading.Missing(CpuSample.Support.Because!);
}

/// <summary>The settings that all rounds of a cell share.</summary>
/// <param name="Sizes">Rows to seed, messages to warm up with and to drain.</param>
/// <param name="Clock">As the widgets' server and the scenario allow it.</param>
/// <param name="Queues">Server of the queue.</param>
/// <param name="Widgets">Server of the widgets, which can be the same.</param>
/// <param name="Disk">The disk with the files of the kit's own servers; <see langword="null"/>: there is none.</param>
/// <param name="Processes">The processes of all the kit's own servers in the run, also of those that the cell does not use.</param>
internal sealed record RoundSettings(
    RunSettings Sizes, ClockSource Clock, ServerInUse Queues, DatabaseInUse Widgets, DiskFacts? Disk, IReadOnlyList<int> Processes)
{
    /// <summary>The workers on other machines that run the handlers; <see langword="null"/>: this machine runs them.</summary>
    public JoinedWorkers? Workers { get; init; }

    /// <summary>True if a server of the cell has ended by itself.</summary>
    public bool HasEnded => Queues.HasEnded || Widgets.HasEnded;

    /// <summary>The processes of the servers that the cell uses; <see langword="null"/> unless all of them are the kit's own.</summary>
    public IReadOnlyList<int>? ServerProcesses =>
        (Widgets.Processes, Queues.Processes) is ({ } widgets, { } queues) ? [.. widgets.Union(queues)] : null;
}
