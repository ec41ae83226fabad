using System.Diagnostics;
using Kit.Prove.Files;
using Kit.Prove.Service;
using Kit.Runner.Measuring;
using Kit.Runner.Results;
using Kit.Runner.Wire;

namespace Kit.Prove.Drains;

/// <summary>A user's service that empties its queue. Its effects are counted meanwhile.</summary>
internal sealed class DrainedService : MeasuredService
{
    private readonly CancellationTokenSource ended = new();
    private Task counting = Task.CompletedTask;
    private volatile int handled;
    private IReadOnlyDictionary<string, long> before = new Dictionary<string, long>();

    private DrainedService(ProofFile file, ProofBed bed)
        : base(file, bed)
    {
    }

    public override int Handled => handled;

    public override Action? Progressed
    {
        set => throw new NotSupportedException("A drain asks for the count.");
    }

    public override bool IsBroken => counting.IsFaulted || base.IsBroken;

    /// <param name="meter">Measures its traffic through the proxies; <see langword="null"/>: it is told the servers' own addresses.</param>
    /// <exception cref="KitException">A statement of the setup failed.</exception>
    public static async Task<DrainedService> OpenAsync(
        ProofFile file, ProofServers servers, NetworkMeter? meter, CancellationToken cancellationToken) =>
        new(file, await ProofBed.CreateAsync(file, servers, new RequestGate(), cancellationToken, meter));

    /// <summary>Lets it handle a first message, and puts the messages of the round in when it has ended.</summary>
    /// <inheritdoc cref="MeasuredService.HandleFirstAsync" path="/param"/>
    /// <returns>Duration of the sends.</returns>
    /// <exception cref="KitException">It does not handle the message.</exception>
    public async Task<TimeSpan> PutAsync(IReadOnlyList<Guid> messages, TimeSpan patience, CancellationToken cancellationToken)
    {
        await HandleFirstAsync(patience, cancellationToken);
        await ListenAsync(cancellationToken);
        var sending = Stopwatch.StartNew();
        await Sender.PutAsync(messages, cancellationToken);
        sending.Stop();
        before = await CountEffectsAsync(cancellationToken);
        return sending.Elapsed;
    }

    public override Task StartHandlingAsync(int messages, CancellationToken cancellationToken)
    {
        Start();
        counting = CountAgainAsync();
        return Task.CompletedTask;
    }

    public override async Task<IReadOnlyList<DrainReport>> StopHandlingAsync(CancellationToken cancellationToken)
    {
        await ended.CancelAsync();
        await counting.ConfigureAwait(ConfigureAwaitOptions.SuppressThrowing);
        await EndAsync();
        return [DrainReport.Nothing with { Handled = handled }];
    }

    public override void ThrowIfBroken()
    {
        base.ThrowIfBroken();
        if (counting.Exception?.InnerException is { } failure)
            throw new KitException(KitException.MessageOf(failure), "See 'effects' in the proof file.", failure);
    }

    /// <summary>The moments at which messages had their effects, by this machine's clock.</summary>
    /// <param name="serverAhead">The lead of the database's clock.</param>
    /// <inheritdoc cref="EffectMoments.Of" path="/exception"/>
    public async Task<IReadOnlyList<MessageMoments>> ReadMomentsAsync(
        IReadOnlyCollection<Guid> messages, TimeSpan serverAhead, CancellationToken cancellationToken)
    {
        IReadOnlyList<CommittedTransaction> commits =
        [
            .. from commit in await Bed.ReadCommitsAsync(cancellationToken) ?? []
               select commit with { CommittedUtc = commit.CommittedUtc - serverAhead },
        ];
        return EffectMoments.Of(File, messages, StartedUtc, commits, File.Effects.Where(effect => effect is not RowEffect).ToDictionary(
            effect => effect.Name,
            effect => effect is CallEffect call ? Bed.Calls.ReadSeen(call.Path) : SeenOf(effect.Name)));
    }

    /// <summary>
    /// Messages of which every effect can be there: the least of the effects' counts since the round began. The message before the round has left rows,
    /// and nothing in a queue that was emptied.
    /// </summary>
    /// <param name="before">Count at the beginning, by the effect's name.</param>
    /// <param name="now">Count now.</param>
    public static int HandledOf(IEnumerable<Effect> effects, IReadOnlyDictionary<string, long> before, IReadOnlyDictionary<string, long> now) =>
        (int)Counted(effects).Min(effect => (now[effect.Name] - before[effect.Name]) / effect.PerMessage);

    public override async ValueTask DisposeAsync()
    {
        await ended.CancelAsync();
        await counting.ConfigureAwait(ConfigureAwaitOptions.SuppressThrowing);
        await base.DisposeAsync();
        ended.Dispose();
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
                handled = HandledOf(File.Effects, before, await CountEffectsAsync(ended.Token));
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
        foreach (var effect in Counted(File.Effects))
        {
            counts[effect.Name] = effect switch
            {
                RowEffect row => await Bed.CountRowsAsync(row.Database, row.Sql, cancellationToken),
                QueueEffect => SeenOf(effect.Name).Count,
                CallEffect call => Bed.Calls.Read(call.Path).Count,
                _ => throw new UnreachableException($"No way to count a {effect.GetType().Name}."),
            };
        }

        return counts;
    }

    private static IEnumerable<Effect> Counted(IEnumerable<Effect> effects) => effects.Where(effect => !effect.IsDeadLetter);
}
