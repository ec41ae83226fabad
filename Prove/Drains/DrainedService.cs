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
    private static readonly TimeSpan ShortestPause = TimeSpan.FromMilliseconds(250);

    // If its queue is empty, a drain takes 10 seconds without a new effect for its end.
    private static readonly TimeSpan LongestPause = TimeSpan.FromSeconds(5);

    private const int PausePerCount = 20;

    private readonly ProofFile file;
    private readonly ProofBed bed;
    private readonly Sender sender;
    private readonly EffectReader effects;
    private readonly Dictionary<string, List<SeenEffect>> received = [];
    private readonly CancellationTokenSource ended = new();
    private ApplicationProcess? process;
    private Task counting = Task.CompletedTask;
    private volatile int handled;
    private IReadOnlyDictionary<string, long> before = new Dictionary<string, long>();
    private (long Count, TimeSpan Pause, Stopwatch Since) left = (0, TimeSpan.Zero, Stopwatch.StartNew());

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

    public async Task<long> CountAsync(CancellationToken cancellationToken)
    {
        // Asked many times a second while no effect is new. An empty queue is looked at again at once.
        if (left.Count > 0 && left.Since.Elapsed < left.Pause)
            return left.Count;

        var watch = Stopwatch.StartNew();
        var count = await effects.CountLeftAsync(cancellationToken);
        left = (count, PauseAfter(watch.Elapsed), Stopwatch.StartNew());
        return count;
    }

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

    /// <summary>
    /// Messages of which every effect can be there: the least of the effects' counts since the round began. The message before the round has left rows,
    /// and nothing in a queue that was emptied.
    /// </summary>
    /// <param name="before">Count at the beginning, by the effect's name.</param>
    /// <param name="now">Count now.</param>
    public static int HandledOf(IEnumerable<Effect> effects, IReadOnlyDictionary<string, long> before, IReadOnlyDictionary<string, long> now) =>
        (int)Counted(effects).Min(effect => (now[effect.Name] - before[effect.Name]) / effect.PerMessage);

    /// <summary>
    /// The pause after a count. Counts grow with the round and take the server's time, so a pause is 20 times as long; 5 seconds at most, because a drain
    /// without news ends.
    /// </summary>
    public static TimeSpan PauseAfter(TimeSpan count) => TimeSpan.FromTicks(Math.Clamp(count.Ticks * PausePerCount, ShortestPause.Ticks, LongestPause.Ticks));

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
            var pause = ShortestPause;
            while (true)
            {
                await Task.Delay(pause, ended.Token);
                var watch = Stopwatch.StartNew();
                handled = HandledOf(file.Effects, before, await CountEffectsAsync(ended.Token));
                pause = PauseAfter(watch.Elapsed);
            }
        }
        catch (OperationCanceledException) when (ended.IsCancellationRequested)
        {
            // The round is over.
        }
    }

    /// <summary>How often each effect is there, by its name.</summary>
    private async Task<IReadOnlyDictionary<string, long>> CountEffectsAsync(CancellationToken cancellationToken)
    {
        var counts = new Dictionary<string, long>();
        foreach (var effect in Counted(file.Effects))
        {
            counts[effect.Name] = effect switch
            {
                RowEffect row => await bed.CountRowsAsync(row.Database, row.Sql, cancellationToken),
                QueueEffect => SeenOf(effect.Name).Count,
                CallEffect call => bed.Calls.Read(call.Path).Count,
                _ => throw new UnreachableException($"No way to count a {effect.GetType().Name}."),
            };
        }

        return counts;
    }

    private static IEnumerable<Effect> Counted(IEnumerable<Effect> effects) => effects.Where(effect => !effect.IsDeadLetter);

    private KitException Wrong(string what, string remedy) => new($"{file.Path}: {what}.", remedy) { IsUsage = true };
}
