using System.Diagnostics;
using Kit.Prove.Files;
using Kit.Runner.Measuring;
using Kit.Runner.Results;

namespace Kit.Prove.Service;

/// <summary>
/// A user's service as a target. It cannot say what it handles, so its effects are seen; and it receives from its start to its end.
/// </summary>
internal abstract class MeasuredService : ITarget, IAsyncDisposable
{
    private const int PausePerCount = 20;

    private static readonly TimeSpan Pause = TimeSpan.FromMilliseconds(100);

    // If its queue is empty, a drain takes 10 seconds without a new effect for its end.
    private static readonly TimeSpan LongestPause = TimeSpan.FromSeconds(5);

    private readonly EffectReader effects;
    private readonly Dictionary<string, List<SeenEffect>> received = [];
    private ApplicationProcess? process;
    private (long Count, TimeSpan Pause, Stopwatch Since) left = (0, TimeSpan.Zero, Stopwatch.StartNew());

    protected MeasuredService(ProofFile file, ProofBed bed) =>
        (File, Bed, Sender, effects) = (file, bed, new Sender(file, bed), new EffectReader(file, bed));

    public ProofBed Bed { get; }

    /// <summary>The process that handles the messages.</summary>
    public int ProcessId { get; private set; }

    /// <summary>The message that it handles before it is measured.</summary>
    public Guid First { get; } = Guid.CreateVersion7();

    public DateTimeOffset StartedUtc { get; private set; }

    public int Entered => Handled;

    public abstract int Handled { get; }

    public int Failed => 0;

    public abstract Action? Progressed { set; }

    public virtual bool IsBroken => process is { HasEnded: true };

    protected ProofFile File { get; }

    protected Sender Sender { get; }

    protected static TimeSpan ShortestPause { get; } = TimeSpan.FromMilliseconds(250);

    public virtual void ThrowIfBroken()
    {
        if (process is { HasEnded: true } gone)
        {
            throw Wrong(
                $"it ended by itself with exit code {gone.ExitCode} when {Figures.Count(Handled, "message")} of the round were handled",
                $"It must run until the kit ends it. {gone.LastOutput}");
        }
    }

    public abstract Task StartHandlingAsync(int messages, CancellationToken cancellationToken);

    public abstract Task<IReadOnlyList<DrainReport>> StopHandlingAsync(CancellationToken cancellationToken);

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

    /// <summary>
    /// The pause after a count. Counts grow with the round and take the server's time, so a pause is 20 times as long; 5 seconds at most, because a drain
    /// without news ends.
    /// </summary>
    public static TimeSpan PauseAfter(TimeSpan count) => TimeSpan.FromTicks(Math.Clamp(count.Ticks * PausePerCount, ShortestPause.Ticks, LongestPause.Ticks));

    public virtual async ValueTask DisposeAsync()
    {
        try
        {
            if (process is not null)
                await process.DisposeAsync();
        }
        finally
        {
            await Disposal.OfAllAsync([Sender, Bed]);
        }
    }

    /// <summary>Lets it create what it needs: starts it, has it handle one message, and ends it.</summary>
    /// <param name="patience">Time in which it handles that message, and becomes idle.</param>
    /// <exception cref="KitException">It does not handle the message.</exception>
    protected async Task HandleFirstAsync(TimeSpan patience, CancellationToken cancellationToken)
    {
        Start();
        await Sender.SendAsync([First], cancellationToken);
        await UntilHandledAsync(First, patience, cancellationToken);
        await EndAsync();
    }

    /// <summary>Waits until it has handled a message and is idle.</summary>
    /// <inheritdoc cref="HandleFirstAsync" path="/param"/>
    /// <inheritdoc cref="HandleFirstAsync" path="/exception"/>
    protected async Task UntilHandledAsync(Guid message, TimeSpan patience, CancellationToken cancellationToken)
    {
        for (var watch = Stopwatch.StartNew(); !await IsHandledAsync(message, cancellationToken); await Task.Delay(Pause, cancellationToken))
        {
            ThrowIfBroken();
            if (watch.Elapsed > patience)
            {
                throw Wrong(
                    $"it did not handle a first message within {patience.TotalSeconds} s, and had handled one that came when it had run for some seconds",
                    "A service that handles only what comes while it runs cannot be drained: messages wait when it starts.");
            }
        }
    }

    protected void Start()
    {
        StartedUtc = DateTimeOffset.UtcNow;
        process = ApplicationProcess.Start(File.Start, Bed.ForMeasured, id: null, _ => { });
        ProcessId = process.Id;
    }

    protected async Task EndAsync()
    {
        if (process is null)
            return;

        await process.DisposeAsync();
        process = null;
        // From the queues of effects the kit itself receives.
        await Bed.WaitForNoConsumerAsync(File.Queues.Union(File.Idle.OfType<IdleQueue>().Select(idle => idle.Queue))
            .Except(File.Effects.OfType<QueueEffect>().Select(effect => effect.Queue)));
    }

    /// <summary>Receives what it sends, from now on.</summary>
    /// <exception cref="KitException">A queue is not there.</exception>
    protected async Task ListenAsync(CancellationToken cancellationToken)
    {
        foreach (var effect in File.Effects.OfType<QueueEffect>())
        {
            var into = received[effect.Name] = [];
            if (await Bed.Queues.ListenAsync(effect.Queue, text => Receive(effect, into, text), cancellationToken))
            {
                effects.LeaveToReceiver(effect);
                continue;
            }

            if (effect.IsDeadLetter)
                continue;

            throw Wrong(
                $"the queue '{effect.Queue}' of effect '{effect.Name}' is gone when the service has ended, so what it sends cannot be received",
                "Let the queue be durable and not exclusive, or name it in \"queues\".");
        }
    }

    /// <summary>Called with each sent message, one at a time for each effect.</summary>
    protected virtual void Receive(QueueEffect effect, SeenEffect seen)
    {
        // It is kept.
    }

    protected IReadOnlyList<SeenEffect> SeenOf(string effect)
    {
        if (!received.TryGetValue(effect, out var seen))
            return [];
        lock (seen)
            return [.. seen];
    }

    protected KitException Wrong(string what, string remedy) => new($"{File.Path}: {what}.", remedy) { IsUsage = true };

    private async Task<bool> IsHandledAsync(Guid message, CancellationToken cancellationToken)
    {
        var found = await ReadFoundAsync(cancellationToken);
        return File.Effects.All(effect => found[effect.Name].Count(text => ProofAccount.Names(text, message)) >= effect.PerMessage)
            && (await effects.ReadLeftAsync(cancellationToken)).Count == 0;
    }

    private void Receive(QueueEffect effect, List<SeenEffect> into, string text)
    {
        var seen = new SeenEffect(text, DateTimeOffset.UtcNow);
        lock (into)
            into.Add(seen);
        Receive(effect, seen);
    }
}
