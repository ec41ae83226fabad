using System.Diagnostics;
using Kit.Guarantees;
using Kit.Prove.Files;
using Kit.Runner.Faults.Points;
using Kit.Runner.Results;
using Kit.Runner.Wire;

namespace Kit.Prove.Service;

/// <summary>
/// A user's application whose handling is met at its points. If its process ends, it is started again, as a supervisor does.
/// </summary>
internal sealed class Application : ISubject<ProofAccount>
{
    private static readonly TimeSpan Quiet = TimeSpan.FromSeconds(1);
    private static readonly TimeSpan Pause = TimeSpan.FromMilliseconds(100);

    /// <summary>A process that ends at once is not started again and again without a pause.</summary>
    private static readonly TimeSpan BeforeRestart = TimeSpan.FromMilliseconds(500);

    private const int MostOutput = 2_000;

    private readonly ProofFile file;
    private readonly ProofBed bed;
    private readonly Sender sender;
    private readonly EffectReader effects;
    private readonly HeldWork held;
    private readonly List<Guid> sent = [];
    private readonly Dictionary<Guid, DeliveryClass> earlier = [];
    private readonly Dictionary<(string Effect, string Text), int> unexpected = [];
    private readonly List<string> output = [];
    private readonly List<OwnEnd> ownEnds = [];
    private ApplicationProcess? process;
    private int leasesPassed;
    private DateTime startedUtc;

    private Application(ProofFile file, ProofBed bed) =>
        (this.file, this.bed, sender, effects, held) = (file, bed, new Sender(file, bed), new EffectReader(file, bed), new HeldWork(file, bed));

    public IReadOnlyCollection<FaultProxy> Proxies => bed.Proxies;

    public bool IsRunning => process is not null;

    public string Remedy => process?.LastOutput ?? "The application does not run.";

    /// <summary>Its process.</summary>
    /// <exception cref="InvalidOperationException">There is none.</exception>
    public ApplicationProcess Process => process ?? throw new InvalidOperationException("The application was not started.");

    public EffectReader Effects => effects;

    /// <summary>Requests that it has not accepted; <see langword="null"/>: none.</summary>
    public string? Refused => sender.Refused;

    public ProofBed Bed => bed;

    /// <exception cref="KitException">A statement of the setup failed.</exception>
    public static async Task<Application> OpenAsync(ProofFile file, ProofServers servers, RequestGate gate, CancellationToken cancellationToken) =>
        new(file, await ProofBed.CreateAsync(file, servers, gate, cancellationToken));

    public Task StartAsync(CancellationToken cancellationToken)
    {
        startedUtc = DateTime.UtcNow;
        process = ApplicationProcess.Start(file.Start, bed.ForApplication, id: null, Keep);
        return Task.CompletedTask;
    }

    public async Task<int> KillAsync()
    {
        if (Process.HasEnded)
            ownEnds.Add(new OwnEnd(Process.ExitCode, Process.EndedUtc));
        var code = await Process.KillAsync();
        await process!.DisposeAsync();
        process = null;
        await ForgetConnectionsAsync();
        return code;
    }

    /// <summary>An application may end: then it is started again.</summary>
    public void ThrowIfBroken()
    {
        // Nothing is wrong with that.
    }

    public IReadOnlyList<OwnEnd> TakeOwnEnds()
    {
        List<OwnEnd> taken = [.. ownEnds];
        ownEnds.Clear();
        return taken;
    }

    public async Task WatchAsync(TimeSpan time, CancellationToken cancellationToken)
    {
        for (var watch = Stopwatch.StartNew(); watch.Elapsed < time; await Task.Delay(Pause, cancellationToken))
            await StartAgainAsync();
    }

    public async Task SendAsync(IReadOnlyList<Guid> messages, CancellationToken cancellationToken)
    {
        sent.AddRange(messages);
        await sender.SendAsync(messages, cancellationToken);
        // One that is to meet a point comes alone, and the application's traffic stands still.
        if (messages is [var alone])
            await held.RememberAsync(alone, cancellationToken);
    }

    /// <inheritdoc cref="Sender.TrySendAsync"/>
    public Task TrySendAsync(Guid message, CancellationToken cancellationToken) => sender.TrySendAsync(message, cancellationToken);

    public async Task<Settlement> SettleAsync(IReadOnlyList<Guid> messages, TimeSpan limit, TimeSpan quiet, CancellationToken cancellationToken)
    {
        var (whole, still) = (Stopwatch.StartNew(), Stopwatch.StartNew());
        var before = "";
        var isLater = false;
        while (true)
        {
            await StartAgainAsync();
            var found = await effects.ReadAsync(cancellationToken);
            var left = await ReadLeftAsync(cancellationToken);
            var areDone = left.Count == 0 && messages.All(
                message => file.Effects.All(effect => found[effect.Name].Count(text => ProofAccount.Names(text, message)) >= effect.PerMessage));
            var now = $"{string.Join(' ', found.Values.Select(texts => texts.Count))} {string.Join(' ', left)}";
            if (now != before)
                still.Restart();
            before = now;
            if (still.Elapsed > (areDone ? Quiet : quiet))
            {
                if (areDone || isLater || left.Count == 0 || file.Later.Count == 0)
                    return new Settlement(areDone, Because: null);

                // Work is left and nothing moves: it can be leased to a process that is dead.
                await LetTimePassAsync(cancellationToken);
                leasesPassed++;
                isLater = true;
                still.Restart();
            }

            // The leases became old in no time, and what comes then has the time of a start again.
            if (whole.Elapsed > (isLater ? 2 * limit : limit))
                return Settlement.TooLate(limit, left.Count == 0 ? "" : $", and this was left: {string.Join(", ", left)}");

            await Task.Delay(Pause, cancellationToken);
        }
    }

    /// <summary>Executes the steps by which leases become old.</summary>
    /// <exception cref="KitException">One of them fails.</exception>
    public async Task LetTimePassAsync(CancellationToken cancellationToken)
    {
        foreach (var later in file.Later)
        {
            switch (later)
            {
                case LaterStatement statement:
                    await LetTimePassAsync(statement, cancellationToken);
                    break;
                case LaterCommand(var program):
                    if (await ApplicationProcess.RunAsync(program, bed.Direct, id: null, "later", Sender.Patience, cancellationToken) is { } failure)
                        throw new KitException($"{file.Path}: {failure.TrimEnd('.')}.", "Correct the command.") { IsUsage = true };
                    break;
                default:
                    throw new UnreachableException($"No such step of 'later': {later}.");
            }
        }
    }

    public async Task<Recovery> RecoveryAsync(IReadOnlyList<Guid> messages, CancellationToken cancellationToken)
    {
        var left = await ReadLeftAsync(cancellationToken);
        var accounts = ProofAccount.Of(sent, file.Effects, await effects.ReadAsync(cancellationToken), left, []).Messages;
        return new Recovery(
            left.Count > 0 || accounts.Any(message => message.Class is not DeliveryClass.Once && !file.Promised.Contains(message.Class)),
            accounts.Count(message => message.Class is not DeliveryClass.Once && messages.Contains(message.Id)));
    }

    /// <summary>The work that is left, with the requests that the application has not accepted.</summary>
    /// <exception cref="KitException">A statement fails.</exception>
    public async Task<IReadOnlyList<string>> ReadLeftAsync(CancellationToken cancellationToken) =>
        [.. await effects.ReadLeftAsync(cancellationToken), .. sender.Refused is { } refused ? [refused] : Array.Empty<string>()];

    /// <summary>What holds the work that is left, in sentences.</summary>
    /// <param name="messages">Messages whose work can be left.</param>
    public Task<IReadOnlyList<string>> ReadHeldAsync(IReadOnlyList<Guid> messages, CancellationToken cancellationToken) =>
        held.ReadAsync(messages, startedUtc, cancellationToken);

    public async Task<ProofAccount> AccountAsync(CancellationToken cancellationToken)
    {
        var found = await effects.ReadAsync(cancellationToken);
        List<string> lines;
        lock (output)
            lines = [.. output];
        var left = await ReadLeftAsync(cancellationToken);
        var account = ProofAccount.Of(sent, file.Effects, found, left, lines) with
        {
            Unexpected = TakeUnexpected(found),
            Absent = effects.Absent,
            CallsRefused = bed.Calls.TakeRefused().Count(
                path => file.Effects.OfType<CallEffect>().Any(call => path.StartsWith(call.Path, StringComparison.Ordinal))),
            Commits = await bed.ReadCommitsAsync(cancellationToken),
            LeasesPassed = leasesPassed,
            Changed =
            [
                .. ProofAccount.Of(earlier.Keys, file.Effects, found, left, []).Messages
                    .Where(message => message.Class != earlier[message.Id] && !file.Promised.Contains(message.Class)),
            ],
        };
        if (left.Count > 0)
        {
            account = account with
            {
                Held = await ReadHeldAsync(
                    [.. account.Messages.Where(message => message.Class is not DeliveryClass.Once).Select(message => message.Id)], cancellationToken),
            };
        }

        foreach (var message in account.Messages)
            earlier[message.Id] = message.Class;
        sent.Clear();
        held.Forget();
        leasesPassed = 0;
        lock (output)
            output.Clear();
        return account;
    }

    public async ValueTask DisposeAsync()
    {
        try
        {
            if (process is not null)
                await process.DisposeAsync();
        }
        finally
        {
            await Disposal.OfAllAsync([sender, bed]);
        }
    }

    /// <summary>The effects of no message that no earlier account has had.</summary>
    private List<string> TakeUnexpected(IReadOnlyDictionary<string, IReadOnlyList<string>> found)
    {
        var known = earlier.Keys.Concat(sent).ToHashSet();
        var fresh = new List<string>();
        foreach (var (effect, texts) in found)
        {
            foreach (var same in ProofAccount.OfNobody(texts, known).GroupBy(text => text, StringComparer.Ordinal))
            {
                if (same.Count() > unexpected.GetValueOrDefault((effect, same.Key)))
                    fresh.Add($"effect '{effect}' of no message that was sent: {same.Key}");
                unexpected[(effect, same.Key)] = same.Count();
            }
        }

        return fresh;
    }

    private async Task LetTimePassAsync(LaterStatement statement, CancellationToken cancellationToken)
    {
        try
        {
            await bed.ExecuteAsync(statement.Database, ProofBed.WaitsForALock(statement.Sql), cancellationToken);
        }
        catch (Npgsql.PostgresException refused) when (refused.SqlState == Npgsql.PostgresErrorCodes.LockNotAvailable)
        {
            // A living session holds the lock. It is told with what is left.
        }
        catch (Npgsql.PostgresException refused)
        {
            throw new KitException(
                $"{file.Path}: {statement} fails: {RefusedStatement.TextOf(refused)}.", "Correct the statement.", refused)
            { IsUsage = true };
        }
    }

    private async Task StartAgainAsync()
    {
        if (process is not { HasEnded: true } ended)
            return;

        ownEnds.Add(new OwnEnd(ended.ExitCode, ended.EndedUtc));
        process = null;
        await ended.DisposeAsync();
        await ForgetConnectionsAsync();
        // Not cancelled half-way: whoever looks next expects a process.
        await Task.Delay(BeforeRestart, CancellationToken.None);
        await StartAsync(CancellationToken.None);
    }

    /// <summary>Resets the connections of an ended process, as the operating system would, and waits until the broker has noticed it.</summary>
    private async Task ForgetConnectionsAsync()
    {
        foreach (var proxy in bed.Proxies)
            await proxy.EndAllAsync(Ending.Reset);
        // The queue that messages are sent to is one of those that have to be empty.
        await bed.WaitForNoConsumerAsync(file.Queues.Union(file.Idle.OfType<IdleQueue>().Select(idle => idle.Queue)));
    }

    private void Keep(string line)
    {
        lock (output)
        {
            if (output.Count < MostOutput)
                output.Add(line);
        }
    }
}
