using System.Diagnostics;
using Kit.Prove.Files;
using Kit.Prove.Service;
using Kit.Runner.Measuring;
using Kit.Runner.Results;
using Kit.Runner.Wire;

namespace Kit.Prove.Drains;

/// <summary>
/// A user's service as a target. It is told the servers' own addresses, without the proxy. It cannot say what it handles, so its effects are counted; and it
/// receives from its start to its end.
/// </summary>
internal sealed class DrainedService : ITarget, IAsyncDisposable
{
    private static readonly TimeSpan Pause = TimeSpan.FromMilliseconds(100);
    private static readonly TimeSpan BetweenCounts = TimeSpan.FromMilliseconds(250);

    private readonly ProofFile file;
    private readonly ProofBed bed;
    private readonly Sender sender;
    private readonly EffectReader effects;
    private readonly Dictionary<string, List<SeenEffect>> received = [];
    private readonly CancellationTokenSource ended = new();
    private ApplicationProcess? process;
    private Task counting = Task.CompletedTask;
    private volatile int handled;
    private int before;

    private DrainedService(ProofFile file, ProofBed bed) =>
        (this.file, this.bed, sender, effects) = (file, bed, new Sender(file, bed), new EffectReader(file, bed));

    public ProofBed Bed => bed;

    /// <summary>The process that handles the messages.</summary>
    public int ProcessId { get; private set; }

    /// <summary>The message that it handles before the round.</summary>
    public Guid First { get; } = Guid.CreateVersion7();

    public DateTimeOffset StartedUtc { get; private set; }

    public int Entered => handled;

    public int Handled => handled;

    public int Failed => 0;

    // Nobody drives it with a load yet, and a drain asks by itself.
    public Action? Progressed
    {
        set => throw new NotSupportedException("A drain asks for the count.");
    }

    public bool IsBroken => counting.IsFaulted || process is { HasEnded: true };

    /// <exception cref="KitException">A statement of the setup failed.</exception>
    public static async Task<DrainedService> OpenAsync(ProofFile file, ProofServers servers, CancellationToken cancellationToken) =>
        new(file, await ProofBed.CreateAsync(file, servers, new RequestGate(), cancellationToken));

    /// <summary>
    /// Lets it create what it needs: starts it, has it handle one message, and ends it. Then puts the messages of the round in.
    /// </summary>
    /// <param name="patience">Time in which it handles that message, and becomes idle.</param>
    /// <returns>Duration of the sends.</returns>
    /// <exception cref="KitException">It does not handle the message.</exception>
    public async Task<TimeSpan> PutAsync(IReadOnlyList<Guid> messages, TimeSpan patience, CancellationToken cancellationToken)
    {
        Start();
        await sender.SendAsync([First], cancellationToken);
        for (var watch = Stopwatch.StartNew(); !await IsHandledAsync(First, cancellationToken); await Task.Delay(Pause, cancellationToken))
        {
            ThrowIfBroken();
            if (watch.Elapsed > patience)
            {
                throw Wrong(
                    $"it did not handle a first message within {patience.TotalSeconds} s, and had handled one that came when it had run for some seconds",
                    "A service that handles only what comes while it runs cannot be drained: messages wait when it starts.");
            }
        }

        await EndAsync();
        await ListenAsync(cancellationToken);
        var sending = Stopwatch.StartNew();
        await sender.PutAsync(messages, cancellationToken);
        sending.Stop();
        before = await CountEffectsAsync(cancellationToken);
        return sending.Elapsed;
    }

    public Task StartHandlingAsync(int messages, CancellationToken cancellationToken)
    {
        Start();
        counting = CountAgainAsync();
        return Task.CompletedTask;
    }

    public async Task<IReadOnlyList<DrainReport>> StopHandlingAsync(CancellationToken cancellationToken)
    {
        await ended.CancelAsync();
        await counting.ConfigureAwait(ConfigureAwaitOptions.SuppressThrowing);
        await EndAsync();
        return [DrainReport.Nothing with { Handled = handled }];
    }

    public void ThrowIfBroken()
    {
        if (process is { HasEnded: true } gone)
        {
            throw Wrong(
                $"it ended by itself with exit code {gone.ExitCode} when {Figures.Count(handled, "message")} of the round were handled",
                $"It must run until the kit ends it. {gone.LastOutput}");
        }

        if (counting.Exception?.InnerException is { } failure)
            throw new KitException(KitException.MessageOf(failure), "See 'effects' in the proof file.", failure);
    }

    public async Task<long> CountAsync(CancellationToken cancellationToken) => await effects.CountLeftAsync(cancellationToken);

    /// <summary>Everything that it has left behind, by effect, when it has ended.</summary>
    public async Task<IReadOnlyDictionary<string, IReadOnlyList<string>>> ReadFoundAsync(CancellationToken cancellationToken)
    {
        var found = await effects.ReadAsync(cancellationToken);
        return found.ToDictionary(
            effect => effect.Key, effect => (IReadOnlyList<string>)[.. effect.Value, .. SeenOf(effect.Key).Select(seen => seen.Text)]);
    }

    /// <summary>The work that is left, as texts.</summary>
    public Task<IReadOnlyList<string>> ReadLeftAsync(CancellationToken cancellationToken) => effects.ReadLeftAsync(cancellationToken);

    /// <summary>The moments at which messages had all their effects.</summary>
    /// <inheritdoc cref="EffectMoments.Of" path="/exception"/>
    public async Task<IReadOnlyList<DateTimeOffset>> ReadMomentsAsync(IReadOnlyCollection<Guid> messages, CancellationToken cancellationToken)
    {
        var commits = await bed.ReadCommitsAsync(cancellationToken) ?? [];
        return EffectMoments.Of(file, messages, StartedUtc, commits, file.Effects.Where(effect => effect is not RowEffect).ToDictionary(
            effect => effect.Name,
            effect => effect is CallEffect call ? bed.Calls.ReadSeen(call.Path) : SeenOf(effect.Name)));
    }

    public async ValueTask DisposeAsync()
    {
        await ended.CancelAsync();
        await counting.ConfigureAwait(ConfigureAwaitOptions.SuppressThrowing);
        if (process is not null)
            await process.DisposeAsync();
        await sender.DisposeAsync();
        await bed.DisposeAsync();
        ended.Dispose();
    }

    private void Start()
    {
        StartedUtc = DateTimeOffset.UtcNow;
        process = ApplicationProcess.Start(file.Start, bed.Direct, id: null, _ => { });
        ProcessId = process.Id;
    }

    private async Task EndAsync()
    {
        if (process is null)
            return;

        await process.DisposeAsync();
        process = null;
        // From the queues of effects the kit itself receives.
        await bed.WaitForNoConsumerAsync(file.Queues.Union(file.Idle.OfType<IdleQueue>().Select(idle => idle.Queue))
            .Except(file.Effects.OfType<QueueEffect>().Select(effect => effect.Queue)));
    }

    private async Task<bool> IsHandledAsync(Guid message, CancellationToken cancellationToken)
    {
        var found = await effects.ReadAsync(cancellationToken);
        return file.Effects.All(effect => found[effect.Name].Count(text => ProofAccount.Names(text, message)) >= effect.PerMessage)
            && (await effects.ReadLeftAsync(cancellationToken)).Count == 0;
    }

    /// <summary>Receives what it sends, from now on.</summary>
    /// <exception cref="KitException">A queue is not there.</exception>
    private async Task ListenAsync(CancellationToken cancellationToken)
    {
        foreach (var effect in file.Effects.OfType<QueueEffect>())
        {
            var into = received[effect.Name] = [];
            if (await bed.Queues.ListenAsync(effect.Queue, text => Add(into, text), cancellationToken) || effect.IsDeadLetter)
                continue;

            throw Wrong(
                $"the queue '{effect.Queue}' of effect '{effect.Name}' is gone when the service has ended, so what it sends cannot be received",
                "Let the queue be durable and not exclusive, or name it in \"queues\".");
        }
    }

    private static void Add(List<SeenEffect> into, string text)
    {
        lock (into)
            into.Add(new SeenEffect(text, DateTimeOffset.UtcNow));
    }

    private IReadOnlyList<SeenEffect> SeenOf(string effect)
    {
        if (!received.TryGetValue(effect, out var seen))
            return [];
        lock (seen)
            return [.. seen];
    }

    private async Task CountAgainAsync()
    {
        try
        {
            while (true)
            {
                await Task.Delay(BetweenCounts, ended.Token);
                handled = await CountEffectsAsync(ended.Token) - before;
            }
        }
        catch (OperationCanceledException) when (ended.IsCancellationRequested)
        {
            // The round is over.
        }
    }

    /// <summary>Messages of which every effect can be there: the least of the counts.</summary>
    private async Task<int> CountEffectsAsync(CancellationToken cancellationToken)
    {
        var least = long.MaxValue;
        foreach (var effect in file.Effects.Where(effect => !effect.IsDeadLetter))
        {
            var count = effect switch
            {
                RowEffect row => await bed.CountRowsAsync(row.Database, row.Sql, cancellationToken),
                QueueEffect => SeenOf(effect.Name).Count,
                CallEffect call => bed.Calls.Read(call.Path).Count,
                _ => throw new UnreachableException($"No way to count a {effect.GetType().Name}."),
            };
            least = Math.Min(least, count / effect.PerMessage);
        }

        return (int)least;
    }

    private KitException Wrong(string what, string remedy) => new($"{file.Path}: {what}.", remedy) { IsUsage = true };
}
