using System.Diagnostics;
using Kit.Endpoints.Cells;
using Kit.Runner.Faults.Points;
using Kit.Runner.Results;
using Kit.Runner.Results.Accounts;
using Kit.Runner.Results.Faults;
using Kit.Runner.Transports;

namespace Kit.Runner.Faults.Experiments;

/// <summary>
/// One cell set up for experiments at points, one after another. Each has one message, which comes when the handler's process has handled others and has
/// nothing to do.
/// </summary>
internal sealed class PointLane : IAsyncDisposable
{
    /// <summary>
    /// The endpoint's limit for each answer of PostgreSQL. When an answer never comes, this limit acts first.
    /// </summary>
    public static readonly TimeSpan AnswerLimit = TimeSpan.FromSeconds(2);

    /// <summary>How long an endpoint has to get over an answer that never comes, before its process is killed.</summary>
    public static readonly TimeSpan ToGetOver = TimeSpan.FromSeconds(12);

    /// <summary>Statements are prepared at their second use: from the third message on, handlings are alike.</summary>
    private const int ToWarmUp = 3;

    /// <summary>128 + SIGKILL.</summary>
    private const int Killed = 137;

    /// <summary>The outbox's dispatcher and recovery look every 5 seconds.</summary>
    private static readonly TimeSpan IdleTime = TimeSpan.FromSeconds(6);

    private static readonly TimeSpan ToMeet = TimeSpan.FromSeconds(10);
    private static readonly TimeSpan ToStop = TimeSpan.FromSeconds(2);
    private static readonly TimeSpan Pause = TimeSpan.FromMilliseconds(10);

    private readonly RequestGate gate;
    private readonly Testbed testbed;
    private readonly HashSet<Guid> earlier = [];
    private bool isFresh;

    private PointLane(RequestGate gate, Testbed testbed) => (this.gate, this.testbed) = (gate, testbed);

    /// <exception cref="KitException">A database or a queue cannot be created.</exception>
    public static async Task<PointLane> OpenAsync(Cell cell, RunServers servers, CancellationToken cancellationToken)
    {
        var requests = new RequestGate();
        return new PointLane(requests, await Testbed.CreateAsync(cell, servers, cancellationToken, gate: requests));
    }

    public Workload Workload => testbed.Workload;

    /// <summary>The transactions of the endpoint while it has no message.</summary>
    public async Task<IReadOnlySet<string>> RecordIdleAsync(CancellationToken cancellationToken)
    {
        await GetReadyAsync(cancellationToken);
        gate.Record();
        await Task.Delay(IdleTime, cancellationToken);
        return Handling.TransactionsIn(gate.Release());
    }

    /// <summary>The requests of one undisturbed handling.</summary>
    /// <exception cref="KitException">The message was not handled.</exception>
    public async Task<Handling> RecordAsync(IReadOnlySet<string> idle, CancellationToken cancellationToken)
    {
        await GetReadyAsync(cancellationToken);
        var message = await SendAsync(gate.Record, cancellationToken);
        if (await PointSettling.WaitAsync(testbed, message, PointSettling.Limit, cancellationToken) is { } why)
            throw new KitException($"An undisturbed message was not handled: {why}.", "Run the cell with single faults, which say more.");

        return Handling.Of(gate.Release(), idle);
    }

    /// <summary>Handles one message and stops at a point of its handling.</summary>
    /// <returns>What became of the message; why nothing is shown, if the point was not met.</returns>
    public async Task<PointOutcome> MeetAsync(CrashPoint point, PointWay way, CancellationToken cancellationToken)
    {
        await GetReadyAsync(cancellationToken);
        isFresh = false;
        var fired = new List<string>();
        var chosen = await SendAsync(() => gate.Arm(point.Request, way), cancellationToken);
        if (!await IsMetAsync(chosen, cancellationToken))
        {
            gate.Release();
            return new PointOutcome("this handling did not come to the point") { Fired = fired };
        }

        if (way.Kills() && !gate.IsSettled)
        {
            gate.Release();
            return new PointOutcome("the servers had not acted on all that they were asked before") { Fired = fired };
        }

        fired.Add($"the proxy met request {point.Number} after {gate.Count} requests of the handling");
        if (way.Kills() && await KillAsync(fired, cancellationToken) is not Killed)
            return new PointOutcome("the process had ended before it was killed") { Fired = fired };

        gate.Release();
        var after = await SendOrdinaryAsync(cancellationToken);
        var why = await PointSettling.WaitAsync(testbed, after, way is PointWay.Unanswered ? ToGetOver : PointSettling.Limit, cancellationToken);
        if (why is not null && way is PointWay.Unanswered)
        {
            await KillAsync(fired, cancellationToken);
            fired.Add($"it had waited for {ToGetOver.TotalSeconds} s");
            why = await PointSettling.WaitAsync(testbed, after, PointSettling.Limit, cancellationToken);
        }

        isFresh = way.Kills() && why is null;
        return new PointOutcome(why) { Fired = fired, Chosen = chosen, Account = Account.Of(await ReadAsync(cancellationToken), Workload) };
    }

    public ValueTask DisposeAsync() => testbed.DisposeAsync();

    /// <summary>A process that has handled some messages, and has not met a fault.</summary>
    private async Task GetReadyAsync(CancellationToken cancellationToken)
    {
        if (isFresh)
            return;

        if (testbed.HasHandler)
            await testbed.KillHandlerAsync();
        gate.Release();
        await StartAsync(cancellationToken);
        var last = await SendOrdinaryAsync(cancellationToken);
        if (await PointSettling.WaitAsync(testbed, last, PointSettling.Limit, cancellationToken) is { } why)
            throw new KitException($"The messages before the experiment were not handled: {why}.", "The machine may be busy: close other programs.");

        await ForgetAsync(cancellationToken);
        isFresh = true;
    }

    private async Task<bool> IsMetAsync(Guid chosen, CancellationToken cancellationToken)
    {
        var handled = PointSettling.WaitAsync(testbed, chosen, ToMeet, cancellationToken);
        return await Task.WhenAny(gate.Fired, handled) == gate.Fired;
    }

    private async Task<int> KillAsync(List<string> fired, CancellationToken cancellationToken)
    {
        var code = await testbed.KillHandlerAsync();
        fired.Add($"the handler process ended with exit code {code}");
        gate.Release();
        await StartAsync(cancellationToken);
        return code;
    }

    private Task StartAsync(CancellationToken cancellationToken) =>
        testbed.StartHandlerAsync(Guid.Empty, Behaviour.Succeeds, AttemptPoint.Started, cancellationToken);

    /// <summary>Sends a message while the endpoint can ask nothing, so that the first request that counts is the first after it.</summary>
    private async Task<Guid> SendAsync(Action begin, CancellationToken cancellationToken)
    {
        var message = Guid.CreateVersion7();
        FaultProxy[] proxies = [.. new[] { testbed.WidgetsProxy, testbed.TransportProxy }.Distinct()];
        try
        {
            foreach (var proxy in proxies)
                proxy.Stall(Traffic.ToServer);
            for (var watch = Stopwatch.StartNew(); !gate.IsSettled && watch.Elapsed < ToStop; await Task.Delay(Pause, cancellationToken))
                testbed.ThrowIfBroken();
            begin();
            await testbed.SendAsync([message], cancellationToken);
        }
        finally
        {
            foreach (var proxy in proxies)
                proxy.Resume(Traffic.ToServer);
        }

        return message;
    }

    /// <returns>The last of some ordinary messages.</returns>
    private async Task<Guid> SendOrdinaryAsync(CancellationToken cancellationToken)
    {
        List<Guid> messages = [.. Enumerable.Range(0, ToWarmUp).Select(_ => Guid.CreateVersion7())];
        await testbed.SendAsync(messages, cancellationToken);
        return messages[^1];
    }

    /// <summary>What is known about the messages since the last experiment.</summary>
    private async Task<History> ReadAsync(CancellationToken cancellationToken)
    {
        // A queue is read by receiving from it.
        if (!(await testbed.CountAsync(cancellationToken)).IsReceived)
            await testbed.KillHandlerAsync();
        isFresh &= testbed.HasHandler;
        var history = (await testbed.ReadHistoryAsync(cancellationToken)).Without(earlier);
        earlier.UnionWith(history.Sendings.Select(sending => sending.MessageId));
        return history;
    }

    private async Task ForgetAsync(CancellationToken cancellationToken) => await ReadAsync(cancellationToken);
}

/// <summary>What became of the message of an experiment at a point.</summary>
/// <param name="Because">Why it shows nothing; <see langword="null"/> if it shows something.</param>
internal sealed record PointOutcome(string? Because)
{
    public IReadOnlyList<string> Fired { get; init; } = [];

    /// <summary>The message that met the point.</summary>
    public Guid Chosen { get; init; }

    /// <summary>The account of that message and of the ordinary ones after it; <see langword="null"/>: the point was not met.</summary>
    public Account? Account { get; init; }
}
