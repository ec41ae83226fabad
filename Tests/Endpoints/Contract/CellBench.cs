using System.Collections.Concurrent;
using Kit.Endpoints.Bare;
using Kit.Endpoints.Cells;
using Kit.Guarantees;
using Kit.Handlers;
using Microsoft.Extensions.DependencyInjection;
using Microsoft.Extensions.Hosting;

namespace Kit.Tests.Contract;

/// <summary>
/// One cell's endpoint with its queue, the queue that it sends to, the subscribers of what it publishes or those that wait for its replies, and its widgets,
/// on the tests' own servers.
/// </summary>
internal sealed class CellBench : IAsyncDisposable
{
    /// <summary>The queue that handlers send to.</summary>
    public const string Sink = "built";

    private readonly Cell cell;
    private readonly ITestWidgets databases;
    private readonly TestTransport transport;
    private readonly IMessageQueue queue;
    private readonly IReadOnlyList<IMessageQueue> sinks;
    private readonly bool publishes;
    private readonly bool replies;
    private readonly ConcurrentDictionary<Guid, Situation> situations = new();
    private readonly ConcurrentDictionary<Guid, int?> requesterOf = new();
    private readonly ConcurrentDictionary<Guid, int> attempts = new();
    private readonly List<Guid> unhandled = [];
    private readonly SemaphoreSlim gate = new(0);
    private readonly HandleMessage handle;
    private IHost? running;
    private CancellationToken isStopping;
    private bool held;
    private int entered;
    private int together;
    private int mostTogether;

    private CellBench(Cell cell, ITestWidgets databases, TestTransport transport, string address, int? subscribers, int? requesters)
    {
        publishes = subscribers is not null;
        replies = requesters is not null;
        this.cell = cell;
        this.databases = databases;
        this.transport = transport;
        Settings = cell.EndpointOn(cell.Name, address, databases.Widgets, concurrency: 2);
        queue = cell.Kind.OpenQueueOf(cell.Mode, cell.Name, address, databases.Widgets);
        sinks = [.. Enumerable.Range(0, subscribers ?? requesters ?? 1).Select(index => cell.Kind.OpenQueue(Scenario.SinkAt(index, Sink), address))];
        handle = cell.CreateHandler(cell.Name);
    }

    public Cell Cell => cell;

    public EndpointSettings Settings { get; }

    public int Entered => Volatile.Read(ref entered);

    public int MostTogether => Volatile.Read(ref mostTogether);

    /// <param name="cell">The cell.</param>
    /// <param name="with">Adds settings of the transport's own to its address.</param>
    /// <param name="subscribers">How many queues subscribe to what the handler publishes; <see langword="null"/>: it publishes nothing.</param>
    /// <param name="requesters">
    /// How many queues wait for replies; <see langword="null"/>: the handler replies to nobody. Without subscribers and requesters it sends to one queue.
    /// </param>
    public static async Task<CellBench> CreateAsync(
        Cell cell, Func<string, string>? with = null, int? subscribers = null, int? requesters = null)
    {
        var created = await ITestWidgets.CreateAsync(cell.Kind);
        var place = await TestTransport.OpenAsync(cell, created);
        var bench = new CellBench(cell, created, place, with is null ? place.Address : with(place.Address), subscribers, requesters);
        await bench.queue.CreateAsync(CancellationToken.None);
        foreach (var sink in bench.sinks)
        {
            await sink.CreateAsync(CancellationToken.None);
            if (bench.publishes)
                await sink.SubscribeAsync(typeof(WidgetReady), CancellationToken.None);
        }

        return bench;
    }

    /// <summary>The bench of a cell by its name. Ignores the test if a server of it is missing.</summary>
    public static Task<CellBench> CreateAsync(string name)
    {
        var named = Cell.Find(name)!;
        if (TestTransport.MissingServer(named.Kind.Transport) is { } missing)
            Assert.Ignore(missing);
        return CreateAsync(named);
    }

    public async Task<Guid> SendAsync(Situation situation)
    {
        if (situation is not (Situation.Unreadable or Situation.OfUnknownType))
            return (await SendAsync(situation, count: 1)).Single();

        var message = Guid.CreateVersion7();
        await (situation is Situation.Unreadable
            ? queue.PreloadUnreadableAsync(message, CancellationToken.None)
            : queue.PreloadOfUnknownTypeAsync(message, CancellationToken.None));
        unhandled.Add(message);
        return message;
    }

    public async Task<IReadOnlyList<Guid>> SendAsync(Situation situation, int count)
    {
        var messages = Enumerable.Range(0, count).Select(_ => new BuildWidget(Guid.CreateVersion7())).ToList();
        foreach (var message in messages)
            situations[message.MessageId] = situation;

        await queue.PreloadAsync(messages, CancellationToken.None);
        return [.. messages.Select(message => message.MessageId)];
    }

    /// <summary>Sends a request.</summary>
    /// <param name="situation">What happens while it is handled.</param>
    /// <param name="requester">Which of the queues waits for the reply, from 0; <see langword="null"/>: the request names none.</param>
    public async Task<Guid> AskAsync(Situation situation, int? requester)
    {
        var request = new BuildWidget(Guid.CreateVersion7()) { ReplyTo = requester is { } index ? sinks[index].Name : null };
        situations[request.MessageId] = situation;
        requesterOf[request.MessageId] = requester;
        await queue.PreloadAsync([request], CancellationToken.None);
        return request.MessageId;
    }

    /// <summary>Sends a message once more that was sent before.</summary>
    public Task SendAgainAsync(Guid message) => queue.PreloadAsync([new BuildWidget(message)], CancellationToken.None);

    /// <summary>From now on handlers wait when they have been entered.</summary>
    public void HoldHandlers() => held = true;

    /// <summary>Lets so many of them go on that wait or will wait.</summary>
    public void LetThrough(int handlers) => gate.Release(handlers);

    public void ReleaseHandlers()
    {
        held = false;
        gate.Release(1000);
    }

    public async Task StartAsync()
    {
        var host = Host.CreateEmptyApplicationBuilder(settings: null);
        cell.Kind.AddEndpoint(host.Services, Settings, HandleAsync);
        running = host.Build();
        isStopping = running.Services.GetRequiredService<IHostApplicationLifetime>().ApplicationStopping;
        // A search of the outbox would send again what a worker of a busy machine has not sent by then.
        Outbox.OutboxBench.SetSchedule(running, Settings.Queue, Outbox.OutboxBench.Never);
        await running.StartAsync();
    }

    public async Task StopAsync()
    {
        if (running is null)
            return;

        await running.StopAsync();
        await ((IAsyncDisposable)running).DisposeAsync();
        running = null;
    }

    /// <summary>Waits until the host has told its services to stop.</summary>
    public Task ToldToStopAsync() => Eventually.HoldsAsync(() => isStopping.IsCancellationRequested, "the host stops");

    public Task EnteredAsync(int handlers) => Eventually.HoldsAsync(() => Entered >= handlers, $"{handlers} handlers entered");

    /// <summary>Runs the endpoint until its queue is empty and every message was taken up, and stops it.</summary>
    public async Task DrainAsync()
    {
        if (running is null)
            await StartAsync();

        await Eventually.HoldsAsync(async () => await CountQueueAsync() == 0, "the queue empty");
        // Out of the queue is not begun where a broker pushes without acknowledgements.
        await Eventually.HoldsAsync(() => attempts.Count >= situations.Count, "every message handled");
        await Eventually.HoldsAsync(
            async () => unhandled.All(attempts.ContainsKey) || !unhandled.Except((await ReadErrorsAsync()).Select(error => error.MessageId)).Any(),
            "what cannot be handled among the errors");
        await StopAsync();
    }

    public async Task<Expectation> ObserveAsync(Guid message) => (await ObserveAsync([message])).Single();

    /// <summary>What is there of each message, in their order; tables and queues are read once.</summary>
    public async Task<IReadOnlyList<Expectation>> ObserveAsync(IReadOnlyList<Guid> messages)
    {
        var rows = await databases.ReadRowsByMessageAsync();
        var sent = new List<ILookup<Guid, Guid>>();
        foreach (var sink in sinks)
            sent.Add((await sink.ReadMessagesAsync(CancellationToken.None)).ToLookup(id => id));
        var errors = (await ReadErrorsAsync()).ToLookup(error => error.MessageId);
        return
        [
            .. messages.Select(message => new Expectation(
                rows.GetValueOrDefault(message), SentFor(message, [.. sent.Select(queue => queue[message].Count())]), errors[message].Count(),
                attempts.GetValueOrDefault(message))),
        ];
    }

    public Task<IReadOnlyList<DeadLetter>> ReadErrorsAsync() => queue.ReadErrorsAsync(CancellationToken.None);

    public Task<long> CountQueueAsync() => queue.CountAsync(CancellationToken.None);

    /// <summary>How many messages are in all the queues that it sends, publishes or replies to.</summary>
    public async Task<long> CountSinksAsync()
    {
        var count = 0L;
        foreach (var sink in sinks)
            count += await sink.CountAsync(CancellationToken.None);
        return count;
    }

    public Task<int> CountRowsAsync() => databases.CountRowsAsync();

    public Task<int> CountPreparedAsync() => databases.CountPreparedAsync();

    public async ValueTask DisposeAsync()
    {
        ReleaseHandlers();
        await StopAsync();
        await queue.DisposeAsync();
        foreach (var sink in sinks)
            await sink.DisposeAsync();
        await transport.DisposeAsync();
        await databases.DisposeAsync();
        gate.Dispose();
    }

    private async Task HandleAsync(BuildWidget message, IMessageContext context, CancellationToken cancellationToken)
    {
        var attempt = attempts.AddOrUpdate(message.MessageId, 1, (_, made) => made + 1);
        var now = Interlocked.Increment(ref together);
        InterlockedMax(ref mostTogether, now);
        Interlocked.Increment(ref entered);
        try
        {
            if (held)
                await gate.WaitAsync(cancellationToken);

            await ActAsync(message, SituationOf(message.MessageId), attempt, context, cancellationToken);
        }
        finally
        {
            Interlocked.Decrement(ref together);
        }
    }

    // Where a framework reads any body as the message of its handler, that has one that was sent with another type.
    private Situation SituationOf(Guid message) => unhandled.Contains(message) ? Situation.OfUnknownType : situations[message];

    private async Task ActAsync(BuildWidget message, Situation situation, int attempt, IMessageContext context, CancellationToken cancellationToken)
    {
        ThrowIf(situation is Situation.ThrowsOnceBeforeInsert && attempt == 1);
        await handle(message, context, cancellationToken);
        ThrowIf(situation is Situation.AlwaysThrowsAfterInsert || (situation is Situation.ThrowsOnceAfterInsert && attempt == 1));
        if (replies)
            await context.ReplyAsync(new WidgetBuilt(message.MessageId), cancellationToken);
        else if (publishes)
            await context.PublishAsync(new WidgetReady(message.MessageId), cancellationToken);
        else
            await context.SendAsync(Sink, new WidgetBuilt(message.MessageId), cancellationToken);
        ThrowIf(situation is Situation.ThrowsOnceAfterSend && attempt == 1);
    }

    private int SentFor(Guid message, IReadOnlyList<int> counts) =>
        !replies ? SameIn(counts) : requesterOf[message] is { } requester ? OnlyIn(requester, counts) : counts.Sum();

    /// <summary>How often a reply is in the queue of its requester.</summary>
    private static int OnlyIn(int requester, IReadOnlyList<int> counts) => counts.Sum() == counts[requester]
        ? counts[requester]
        : throw new AssertionException($"A reply is in the requesters' queues {string.Join(", ", counts)} times, expected in queue {requester} alone.");

    /// <summary>How often a message is in each of the queues.</summary>
    private static int SameIn(IEnumerable<int> counts) => counts.Distinct().ToList() is [var same]
        ? same
        : throw new AssertionException($"An event is in its subscribers' queues {string.Join(", ", counts)} times, expected as often in each.");

    private static void ThrowIf(bool wanted)
    {
        if (wanted)
            throw new InvalidOperationException("The test wants this attempt to fail.");
    }

    private static void InterlockedMax(ref int most, int now)
    {
        for (var seen = Volatile.Read(ref most); now > seen; seen = Volatile.Read(ref most))
            Interlocked.CompareExchange(ref most, now, seen);
    }
}
