using System.Diagnostics;
using Kit.Endpoints.Bare;
using Kit.Endpoints.Cells;
using Kit.Handlers;
using Kit.Runner.Results;
using Kit.Runner.Results.Accounts;
using Kit.Runner.Results.Loads;
using Kit.Runner.Rounds;
using Kit.Runner.Transports;

namespace Kit.Runner.Loading;

/// <summary>How far a load is.</summary>
/// <param name="Cell">Its cell.</param>
/// <param name="Elapsed">Since the schedule's start.</param>
/// <param name="Sent">Messages that were sent.</param>
/// <param name="Handled">Messages whose handler has returned.</param>
internal sealed record LoadProgress(CellName Cell, TimeSpan Elapsed, int Sent, int Handled);

/// <summary>One cell under one rate, from restored databases to the account of every message.</summary>
/// <param name="plan">What all cells share.</param>
/// <param name="cell">The cell.</param>
/// <param name="servers">The servers.</param>
/// <param name="tell">Receives the progress, once a second.</param>
internal sealed class LoadedCell(LoadPlan plan, Cell cell, RunServers servers, Action<LoadProgress> tell)
{
    private static readonly TimeSpan Look = TimeSpan.FromMilliseconds(50);
    private static readonly TimeSpan BetweenWords = TimeSpan.FromSeconds(1);
    private static readonly TimeSpan Stalled = TimeSpan.FromSeconds(30);

    // A stopped load still has to say what became of its messages.
    private static readonly TimeSpan ToEnd = TimeSpan.FromSeconds(30);

    private readonly CellName name = Provenance.NameOf(cell);

    /// <summary>Runs it. A failure becomes the outcome.</summary>
    /// <param name="rate">Messages a second.</param>
    /// <param name="stop">Ends the sending. What was sent by then is handled and accounted for.</param>
    /// <exception cref="OperationCanceledException">It was stopped before the first message was sent.</exception>
    public async Task<LoadResult> RunAsync(double rate, CancellationToken stop)
    {
        var blank = new LoadResult { Cell = name, Rate = rate, Outcome = RoundOutcome.Error("it did not get that far") };
        using var end = new CancellationTokenSource();
        await using var last = stop.Register(() => end.CancelAfter(ToEnd));
        try
        {
            return await LoadAsync(blank, stop, end.Token);
        }
        catch (Exception failure) when (!stop.IsCancellationRequested)
        {
            return blank with
            {
                Outcome = RoundOutcome.Error(failure is KitException { Remedy: var remedy } ? $"{failure.Message} {remedy}" : failure.Message),
            };
        }
    }

    private async Task<LoadResult> LoadAsync(LoadResult blank, CancellationToken stop, CancellationToken end)
    {
        await using var restored = await servers.WidgetsOf(cell).Store.RestoreAsync(stop);
        if (cell.Scenario.Prepare is { } statements)
            await restored.PrepareAsync(statements, stop);
        await using var transport = await servers.Of(cell).OpenAsync(cell, RoundTransport.QueueName, restored, stop);
        await using var queue = cell.Kind.OpenQueue(transport.Queue, transport.ForRunner);
        await queue.CreateAsync(stop);
        await using var sink = cell.Scenario.Sends ? cell.Kind.OpenQueue(Cell.SinkOf(transport.Queue), transport.ForRunner) : null;
        if (sink is not null)
            await sink.CreateAsync(stop);

        await using var handler = await HandlerProcess.StartAsync(
            new HandlerSpec(cell.Name, transport.Queue, transport.ForEndpoint, restored.WidgetsForEndpoint, plan.Concurrency, RecordCompletions: false), stop);
        await handler.StartEndpointAsync(messages: 0, stop);
        List<BuildWidget> warmUp = [.. Enumerable.Range(0, plan.WarmUp).Select(_ => new BuildWidget(Guid.CreateVersion7()))];
        await queue.PreloadAsync(warmUp, stop);
        if (await UntilHandledAsync(handler, queue, warmUp.Count, stop) is { } cold)
            return blank with { Outcome = RoundOutcome.Stalled($"the warm-up made {cold}") };

        var schedule = new Schedule(blank.Rate, plan.Length);
        var (sent, sender) = await SendAsync(transport, schedule, handler, stop);
        var stalled = await UntilHandledAsync(handler, queue, warmUp.Count + sent.Count, end);
        try
        {
            await handler.StopEndpointAsync(end);
        }
        catch (KitException failure) when (stalled is not null)
        {
            stalled = $"{stalled}; {failure.Message}";
        }

        var built = await restored.ReadBuiltAsync(withCommitTime: true, end);
        var account = RoundAccount.Of(await EvidenceReader.ReadAsync(
            cell.Scenario, warmUp, [.. sent.Select(one => one.Message)], built, plan.SeedRows, restored, queue, sink, end));
        return ResultOf(blank, schedule, sender, sent, CommitsOf(built, await restored.ClockAheadAsync(end))) with
        {
            Outcome = stalled is null ? account.Outcome : RoundOutcome.Stalled(stalled),
            Accounts = account.Counts,
        };
    }

    private async Task<(IReadOnlyList<SentMessage> Sent, LoadSender Sender)> SendAsync(
        RoundTransport transport, Schedule schedule, HandlerProcess handler, CancellationToken stop)
    {
        var queues = new List<IMessageQueue>();
        try
        {
            for (var count = 0; count < plan.Senders; count++)
                queues.Add(cell.Kind.OpenQueue(transport.Queue, transport.ForRunner));
            // The first use of a connection takes longer than a send.
            foreach (var each in queues)
                await each.CountAsync(stop);

            var sender = new LoadSender(queues, schedule);
            var before = handler.Handled;
            var watch = Stopwatch.StartNew();
            var sending = sender.RunAsync(stop);
            while (!sending.IsCompleted)
            {
                await Task.WhenAny(sending, Task.Delay(BetweenWords, CancellationToken.None));
                tell(new LoadProgress(name, watch.Elapsed, sender.Sent, handler.Handled - before));
            }

            return (await sending, sender);
        }
        finally
        {
            foreach (var each in queues)
                await each.DisposeAsync();
        }
    }

    /// <summary>Waits until that many messages are handled and the queue is empty.</summary>
    /// <returns>Why it gave up; <see langword="null"/> if it did not have to.</returns>
    private static async Task<string?> UntilHandledAsync(HandlerProcess handler, IMessageQueue queue, int messages, CancellationToken end)
    {
        var (handled, left) = (-1, -1L);
        for (var since = Stopwatch.StartNew(); since.Elapsed < Stalled; await Task.Delay(Look, end))
        {
            handler.ThrowIfBroken();
            var handledNow = handler.Handled;
            // Failed handlers are not counted as handled, so after a pause the queue itself is asked.
            var leftNow = handledNow >= messages || since.Elapsed > BetweenWords ? await queue.CountAsync(end) : left;
            if (leftNow == 0 && (handledNow >= messages || since.Elapsed > Stalled / 3))
                return null;
            if ((handledNow, leftNow) == (handled, left))
                continue;
            (handled, left) = (handledNow, leftNow);
            since.Restart();
        }

        return $"no progress for {Stalled.TotalSeconds} s with {left} messages left";
    }

    /// <summary>When each message had its first row, on this machine's clock.</summary>
    private static Dictionary<Guid, DateTimeOffset> CommitsOf(IReadOnlyList<BuiltWidget> built, TimeSpan serverAhead) => built
        .GroupBy(widget => widget.MessageId)
        .ToDictionary(rows => rows.Key, rows => rows.Min(row => row.Committed!.Value) - serverAhead);

    private LoadResult ResultOf(
        LoadResult blank, Schedule schedule, LoadSender sender, IReadOnlyList<SentMessage> sent, Dictionary<Guid, DateTimeOffset> commits)
    {
        var lastDue = sent.Count == 0 ? sender.Start : sent.Max(one => one.Due);
        // A stopped load ended with its last message.
        var length = sent.Count >= schedule.Messages ? plan.Length : lastDue - sender.Start;
        var done = sent.Where(one => commits.ContainsKey(one.Message.MessageId)).ToList();
        return blank with
        {
            Seconds = Math.Round(length.TotalSeconds, 3),
            IsStopped = sent.Count < schedule.Messages,
            Sent = sent.Count,
            Failed = sent.Count - done.Count,
            Latency = Latency.Of(done.Select(one => (commits[one.Message.MessageId] - one.Due).TotalMilliseconds)),
            SenderLag = Latency.Of(sent.Select(one => (one.Begun - one.Due).TotalMilliseconds)),
            BehindInTheMiddle = BehindAt(sender.Start + (length / 2)),
            BehindAtTheEnd = BehindAt(sender.Start + length),
        };

        int BehindAt(DateTimeOffset moment) =>
            sent.Count(one => one.Due <= moment && !(commits.TryGetValue(one.Message.MessageId, out var committed) && committed <= moment));
    }
}
