using System.Collections.Concurrent;
using System.Diagnostics;
using Kit.Prove.Files;
using Kit.Prove.Service;
using Kit.Runner.Measuring;
using Kit.Runner.Results;
using Kit.Runner.Wire;

namespace Kit.Prove.Loads;

/// <summary>A user's service that handles messages while they come.</summary>
internal sealed class LoadedService : MeasuredService
{
    private static readonly TimeSpan Look = TimeSpan.FromMilliseconds(50);

    private readonly CancellationTokenSource ended = new();
    private readonly List<ServiceProducer> producers = [];
    private CommitStream? stream;
    private Task telling = Task.CompletedTask;
    private volatile Action? progressed;
    private volatile string? lastRefusal;
    private int refusals;

    private LoadedService(ProofFile file, ProofBed bed)
        : base(file, bed) => Effects = new ServiceEffects(file);

    public ServiceEffects Effects { get; }

    /// <summary>The message from which it is known what a send and a handling write.</summary>
    public Guid Second { get; } = Guid.CreateVersion7();

    /// <summary>Messages that were not accepted until they were given up, with the last reasons.</summary>
    public ConcurrentDictionary<Guid, string> NotAccepted { get; } = new();

    /// <summary>Tries to send a message that were refused, without those of the warm-up.</summary>
    public int Refusals => Volatile.Read(ref refusals);

    /// <summary>The reason of the last of them.</summary>
    public string? LastRefusal => lastRefusal;

    public override int Handled => Effects.Done;

    public override Action? Progressed
    {
        set => progressed = value;
    }

    public override bool IsBroken => Effects.Loss is not null || base.IsBroken;

    /// <param name="meter">Delays its traffic through the proxies; <see langword="null"/>: it is told the servers' own addresses.</param>
    /// <exception cref="KitException">A statement of the setup failed.</exception>
    public static async Task<LoadedService> OpenAsync(
        ProofFile file, ProofServers servers, NetworkMeter? meter, CancellationToken cancellationToken) =>
        new(file, await ProofBed.CreateAsync(file, servers, new RequestGate(), cancellationToken, meter));

    /// <summary>
    /// Starts it, after a first start in which it creates what it needs, and lets it handle two messages. Then it is known what a send writes, and how often
    /// each effect of a message is written.
    /// </summary>
    /// <param name="patience">Time in which it handles one.</param>
    /// <exception cref="KitException">It does not handle one, or nothing tells of one of its effects.</exception>
    public async Task PrepareAsync(TimeSpan patience, CancellationToken cancellationToken)
    {
        await HandleFirstAsync(patience, cancellationToken);
        Bed.Calls.Called = (path, seen) => Effects.Take(
            effect => effect is CallEffect call && path.StartsWith(call.Path, StringComparison.Ordinal), seen);
        await ListenAsync(cancellationToken);
        stream = await Bed.StreamCommitsAsync(Effects.Take, cancellationToken);
        if (stream is not null)
            Effects.Watching = stream.Reading;
        Effects.Expect([Second]);
        // An HTTP request is accepted by the service itself, and a message to a queue writes no row.
        var writes = File.Send is SendBySql or SendByCommand;
        if (writes)
        {
            await Sender.SendAsync([Second], cancellationToken);
            await CatchUpAsync(cancellationToken);
            Effects.LearnOfSend(Second);
        }

        await StartHandlingAsync(messages: 0, cancellationToken);
        if (!writes)
            await Sender.SendAsync([Second], cancellationToken);
        await UntilHandledAsync(Second, patience, cancellationToken);
        await CatchUpAsync(cancellationToken);
        if (Effects.LearnNeeded(Second) is { } unseen)
        {
            throw Wrong(
                $"effect '{unseen.Name}' of message {Second} is there, and the service has committed no row with its id in a table that its statement names",
                "Let the statement name the table that the service writes, not a view, and let the row have the whole id. A deleted row has no moment.");
        }
    }

    public override Task StartHandlingAsync(int messages, CancellationToken cancellationToken)
    {
        Start();
        telling = TellAsync();
        return Task.CompletedTask;
    }

    public override async Task<IReadOnlyList<DrainReport>> StopHandlingAsync(CancellationToken cancellationToken)
    {
        await ended.CancelAsync();
        await telling;
        await EndAsync();
        await CatchUpAsync(cancellationToken);
        return [DrainReport.Nothing with { Handled = Handled }];
    }

    public override void ThrowIfBroken()
    {
        base.ThrowIfBroken();
        if (Effects.Loss is { } loss)
            throw new KitException($"The database's log ended, from which the kit knows when rows are committed: {loss}", "Look into the server's log.");
    }

    /// <summary>Senders with connections of their own.</summary>
    /// <param name="patience">Time after which a message that is refused is given up.</param>
    /// <param name="noLonger">Then, too.</param>
    public async Task<IReadOnlyList<ServiceProducer>> OpenProducersAsync(
        int count, TimeSpan patience, CancellationToken noLonger, CancellationToken cancellationToken)
    {
        for (var made = 0; made < count; made++)
            producers.Add(new ServiceProducer(new Sender(File, Bed, await Bed.OpenSenderAsync(File.Send, cancellationToken)), this, patience, noLonger));
        return producers;
    }

    public void CountRefusal(string because)
    {
        lastRefusal = because;
        Interlocked.Increment(ref refusals);
    }

    /// <summary>Waits until every message has its effects and nothing is left to do, or for some time.</summary>
    /// <returns>True if it is so.</returns>
    public async Task<bool> AreAllHandledAsync(TimeSpan limit, CancellationToken cancellationToken)
    {
        for (var watch = Stopwatch.StartNew(); watch.Elapsed < limit; await Task.Delay(Look, cancellationToken))
        {
            ThrowIfBroken();
            if (Effects.Done >= Effects.Expected && await CountAsync(cancellationToken) == 0)
                return true;
        }

        return false;
    }

    public override async ValueTask DisposeAsync()
    {
        await ended.CancelAsync();
        await telling;
        await Disposal.OfAllAsync([.. producers, stream], () => base.DisposeAsync().AsTask());
        ended.Dispose();
    }

    protected override void Receive(QueueEffect effect, SeenEffect seen) => Effects.Take(one => one == effect, seen);

    private Task CatchUpAsync(CancellationToken cancellationToken) => stream?.CatchUpAsync(cancellationToken) ?? Task.CompletedTask;

    private async Task TellAsync()
    {
        for (var before = 0; !ended.IsCancellationRequested;)
        {
            await Task.Delay(ShortestPause, ended.Token).ConfigureAwait(ConfigureAwaitOptions.SuppressThrowing);
            if (Handled == before)
                continue;
            before = Handled;
            progressed?.Invoke();
        }
    }
}

/// <summary>Sends messages to a service, one after the other.</summary>
internal sealed class ServiceProducer(Sender sender, LoadedService service, TimeSpan patience, CancellationToken noLonger) : IProducer, IAsyncDisposable
{
    /// <summary>Sends messages, each until it is accepted or given up.</summary>
    public async Task SendAsync(IReadOnlyCollection<Guid> messages, CancellationToken cancellationToken)
    {
        service.Effects.Expect(messages);
        foreach (var message in messages)
        {
            var watch = Stopwatch.StartNew();
            await sender.SendOneAsync(message, refusal => IsRepeated(message, refusal, watch.Elapsed), cancellationToken);
        }
    }

    /// <exception cref="KitException">One was refused for too long.</exception>
    public Task WarmUpAsync(IReadOnlyCollection<Guid> messages, CancellationToken cancellationToken)
    {
        service.Effects.Expect(messages);
        return sender.SendEachAsync(messages, cancellationToken);
    }

    public ValueTask DisposeAsync() => sender.DisposeAsync();

    private bool IsRepeated(Guid message, string refusal, TimeSpan since)
    {
        service.CountRefusal(refusal);
        if (since < patience && !noLonger.IsCancellationRequested && !service.IsBroken)
            return true;

        service.NotAccepted[message] = refusal;
        return false;
    }
}
