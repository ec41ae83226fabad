using Kit.Endpoints.Bare;
using Kit.Endpoints.Cells;
using Kit.Handlers;
using Kit.Modes;
using Kit.Runner.Measuring;
using Kit.Runner.Results;
using Kit.Runner.Results.Accounts;
using Kit.Runner.Results.Faults;
using Kit.Runner.Stage;
using Kit.Runner.Stage.Databases;
using Kit.Runner.Stage.Transports;
using Kit.Runner.Wire;
using Npgsql;

namespace Kit.Runner.Faults.Testbeds;

/// <summary>
/// One cell set up for an experiment: fresh databases and queues, a proxy on each connection of the endpoint, a journal of attempts, and
/// handler processes to start and to kill.
/// </summary>
internal sealed class Testbed : IAsyncDisposable
{
    public const int Concurrency = 2;

    /// <summary>The broker that holds the queue, as requests name it.</summary>
    public const string Broker = "broker";

    /// <summary>The database that holds the queue.</summary>
    public const string Queue = "queue";

    /// <summary>The database that holds the widgets.</summary>
    public const string Data = "data";

    /// <summary>The database that holds both.</summary>
    public const string Both = "database";

    /// <summary>
    /// The endpoint's limit for each answer of PostgreSQL, where handlings are recorded. When an answer never comes, this limit acts first.
    /// </summary>
    private static readonly TimeSpan AnswerLimit = TimeSpan.FromSeconds(2);

    private readonly CellStage stage;
    private readonly ProxyRoute toTransport;
    private readonly ProxyRoute toWidgets;
    private readonly RoundDatabases databases;
    private readonly IReadOnlyList<IMessageQueue> sinks;
    private readonly IMessageQueue countedQueue;
    private readonly IReadOnlyList<IMessageQueue> countedSinks;
    private readonly string folder = Directory.CreateTempSubdirectory("kit-faults-").FullName;
    private readonly List<Sending> sendings = [];
    private IMessageQueue? lateSink;
    private IMessageQueue? countedLateSink;
    private readonly RequestGate? gate;
    private readonly bool isRecorded;
    private HandlerProcess? handler;
    private bool hasStarted;

    private Testbed(CellStage stage, RequestGate? gate, bool isRecorded, HandlerShape shape)
    {
        this.stage = stage;
        Shape = shape;
        (this.gate, this.isRecorded) = (gate, isRecorded);
        // The widgets of experiments are in PostgreSQL.
        databases = (RoundDatabases)stage.Databases;
        var itsTransport = Transport.Of(Cell);
        (toTransport, toWidgets) = (itsTransport.ProxyRoute!, itsTransport.Widgets.ProxyRoute!);
        sinks = ItsScenario is null ? [.. SinkNames.Select(name => Cell.Kind.OpenQueue(name, Place.ForRunner))] : [];
        countedQueue = Cell.Kind.OpenQueueOf(Cell.Mode, Place.Queue, ForCounting, EndpointConnections.ForManyUses(databases.Widgets));
        countedSinks = [.. SinkNames.Select(name => Cell.Kind.OpenQueue(name, ForCounting))];
        Database = new ExperimentDatabase(databases.Widgets, PlaceOfOutbox, databases.Names, databases.Apart);
        // One connection serves both if the mode needs them in one database.
        var isOne = Place.ForEndpoint == databases.WidgetsForEndpoint;
        (WidgetsServer, TransportServer) = isOne ? (Both, Both) : (Data, itsTransport.IsBroker ? Broker : Queue);
        WidgetsProxy = ProxyOf(toWidgets, databases.WidgetsForEndpoint, WidgetsServer);
        TransportProxy = isOne ? WidgetsProxy : ProxyOf(toTransport, Place.ForEndpoint, TransportServer);
    }

    /// <summary>The widgets' database.</summary>
    public ExperimentDatabase Database { get; }

    /// <summary>The proxy between the endpoint and the widgets' database.</summary>
    public FaultProxy WidgetsProxy { get; }

    /// <summary>The proxy between the endpoint and its queues; the same proxy if one connection serves both.</summary>
    public FaultProxy TransportProxy { get; }

    /// <summary>The widgets' database, as requests name it.</summary>
    public string WidgetsServer { get; }

    /// <summary>The database or broker of the queues, as requests name it.</summary>
    public string TransportServer { get; }

    /// <summary>The endpoint's connections that commit without waiting for the log, against the needs of the mode.</summary>
    public Unflushed Unflushed { get; init; }

    /// <summary>The shape of the handler.</summary>
    public HandlerShape Shape { get; }

    /// <summary>The rows and sends of one undisturbed attempt.</summary>
    public Workload Workload =>
        new(Shape.Inserts, Shape.Sends > 0 || Shape.Subscribers > 0, ReceiveIsBranch: Cell.Mode.RowCommit is RowCommit.InTwoPhases)
        {
            Deliveries = Shape.Arrivals,
        };

    public JournalTail Journal => field ??= new JournalTail(JournalPath);

    /// <summary>True if a handler has been entered after a moment, and has not returned.</summary>
    public bool IsAHandlerOpen(DateTimeOffset after) => WindowsMet.IsAHandlerOpen(AttemptJournal.ReadEnd(JournalPath), after);

    /// <summary>The watch on the kit's own two-phase commit; <see langword="null"/> in a mode without it.</summary>
    public WindowsWatch? Windows => field ??= Cell.Mode.RowCommit is RowCommit.InTwoPhases && Cell.Mode.CrashEffect is CrashEffect.None
        ? Database.WatchWindows(JournalPath)
        : null;

    private string JournalPath => Path.Combine(folder, "attempts.jsonl");

    /// <summary>The scenario whose handler runs; <see langword="null"/>: the experiments' own handler does.</summary>
    private Scenario? ItsScenario => ScenarioUnderFaults.Of(Cell);

    private Cell Cell => stage.Cell;

    private RoundTransport Place => stage.Place;

    private string SinkName => Cell.SinkOf(Place.Queue);

    private IEnumerable<string> SinkNames => Enumerable.Range(0, ItsScenario?.Sinks ?? Shape.Deliveries)
        .Select(index => Scenario.SinkAt(index, SinkName));

    /// <summary>
    /// The sources of counts: the database, the outbox, the queue, its server if that is another, the sinks and the late sink. A crash of the server leaves a
    /// dead session in each.
    /// </summary>
    private int CountingSources => 5 + countedSinks.Count;

    private OutboxPlace? PlaceOfOutbox => Cell.Kind.OutboxTableOf(Cell.Mode, Place.Queue) is { } table
        ? new(table, Cell.Kind.KeepsOutboxWithQueues ? ForCounting : EndpointConnections.ForManyUses(databases.Widgets))
        : null;

    private string ForCounting => Transport.Of(Cell).ForManyUses(Place.ForRunner);

    /// <exception cref="NpgsqlException">The database cannot be reached.</exception>
    /// <param name="unflushed">See <see cref="Unflushed"/>.</param>
    /// <param name="gate">Sees the endpoint's requests; <see langword="null"/>: nobody does.</param>
    /// <param name="isRecorded">
    /// True if handlings are recorded and must be alike: one message at a time, no reset of sessions, and a limit for each answer.
    /// </param>
    /// <param name="shape">Shape of the handler; <see langword="null"/>: the experiments' own.</param>
    public static async Task<Testbed> CreateAsync(
        Cell cell, ServersInUse servers, CancellationToken cancellationToken, Unflushed unflushed = Unflushed.None, RequestGate? gate = null,
        bool isRecorded = false, HandlerShape? shape = null)
    {
        var opened = await CellStage.OpenAsync(
            cell,
            servers,
            new StageOptions(StageRows.None)
            {
                Prepare = ExperimentDatabase.Prepare(hasRows: cell.Scenario.Asks),
                HasSinks = ScenarioUnderFaults.Of(cell) is not null,
                // The driver's reset would be one of the requests, and the published numbers would change.
                ResetsSessions = !isRecorded,
            },
            cancellationToken);
        var testbed = new Testbed(opened, gate, isRecorded, shape ?? HandlerShape.OfExperiments) { Unflushed = unflushed };
        try
        {
            foreach (var sink in testbed.sinks)
                await sink.CreateAsync(cancellationToken);
            foreach (var sink in testbed.sinks.Take(testbed.Shape.Subscribers))
                await sink.SubscribeAsync(typeof(WidgetReady), cancellationToken);
            return testbed;
        }
        catch
        {
            await testbed.DisposeAsync();
            throw;
        }
    }

    /// <summary>Starts a handler process and its endpoint.</summary>
    /// <param name="script">The handler's acts at the chosen message.</param>
    /// <exception cref="KitException">It does not start.</exception>
    public async Task StartHandlerAsync(Guid chosen, HandlerScript script, CancellationToken cancellationToken)
    {
        var experiment = new ExperimentSpec(
            JournalPath, SinkName, Place.ForRunner, EndpointConnections.ForRunner(databases.Widgets), chosen, script)
        {
            Shape = Shape,
        };
        handler = await HandlerProcess.StartAsync(
            stage.HandlersOf(isRecorded ? 1 : Concurrency) with
            {
                Transport = WaitingOrNot(AddressOf(toTransport, Place.ForEndpoint, TransportProxy), Unflushed.Queue),
                Widgets = WaitingOrNot(AddressOf(toWidgets, databases.WidgetsForEndpoint, WidgetsProxy), Unflushed.Data),
                Experiment = experiment,
                TransactionTimeout = script.TransactionTimeout,
            },
            cancellationToken, isTiered: true);
        await handler.StartEndpointAsync(messages: 0, cancellationToken);
        hasStarted = true;
    }

    /// <summary>Cuts every connection of the endpoint to its transport, and notifies the attempt that waits for it.</summary>
    /// <returns>The number of connections that were cut.</returns>
    public async Task<int> CutReceiveAsync(Guid attempt)
    {
        var ended = await TransportProxy.EndAllAsync(Ending.Cut);
        LetGo(attempt);
        return ended;
    }

    /// <summary>Lets an attempt that waits for a cut go on.</summary>
    public void LetGo(Guid attempt) => File.WriteAllBytes(ExperimentSpec.CutMark(JournalPath, attempt), []);

    /// <summary>Lets every attempt that waits for the runner go on: an endpoint does not stop while a handler waits.</summary>
    public void LetGoOfAll() => File.WriteAllBytes(ExperimentSpec.GoOnMark(JournalPath), []);

    /// <summary>True if a handler process runs.</summary>
    public bool HasHandler => handler is not null;

    /// <summary>Kills the handler process, and resets its connections in the proxies, as the operating system would.</summary>
    /// <returns>The exit code.</returns>
    /// <exception cref="KitException">The queue still has a consumer.</exception>
    public async Task<int> KillHandlerAsync()
    {
        var code = await EndHandlerAsync();
        await Transport.Of(Cell).WaitForNoConsumerAsync(Place.ForRunner, Place.Queue, CancellationToken.None);
        return code;
    }

    private async Task<int> EndHandlerAsync()
    {
        var code = await handler!.KillAsync();
        await WidgetsProxy.EndAllAsync(Ending.Reset);
        await TransportProxy.EndAllAsync(Ending.Reset);
        await handler.DisposeAsync();
        handler = null;
        return code;
    }

    public async Task StopHandlerAsync(CancellationToken cancellationToken)
    {
        await handler!.StopEndpointAsync(cancellationToken);
        await handler.DisposeAsync();
        handler = null;
    }

    /// <summary>Ends the handler process. If work is left, it is killed: a stop could finish that work, and nobody would see that it had been left.</summary>
    public async Task StopOrKillHandlerAsync(CancellationToken cancellationToken)
    {
        if ((await CountAsync(cancellationToken)).AreDone)
            await StopHandlerAsync(cancellationToken);
        else
            await KillHandlerAsync();
    }

    /// <exception cref="KitException">The handler process has ended unexpectedly.</exception>
    public void ThrowIfBroken() => handler?.ThrowIfBroken();

    public async Task SendAsync(IReadOnlyCollection<Guid> ids, CancellationToken cancellationToken)
    {
        await stage.Queue.PreloadAsync([.. ids.Select(stage.Messages.Next)], cancellationToken);
        sendings.AddRange(ids.Select(id => new Sending(id, SendResult.Acked)));
    }

    /// <summary>Sends a message to the queue again, like a sender that got no confirmation or a broker that redelivers.</summary>
    public Task SendAgainAsync(Guid id, CancellationToken cancellationToken) => stage.Queue.PreloadAsync([stage.Messages.Find(id)!], cancellationToken);

    /// <summary>Creates the queue that the handler has sent to.</summary>
    public async Task CreateLateSinkAsync(CancellationToken cancellationToken)
    {
        lateSink = Cell.Kind.OpenQueue(ExperimentSpec.LateSinkOf(SinkName), Place.ForRunner);
        await lateSink.CreateAsync(cancellationToken);
        countedLateSink = Cell.Kind.OpenQueue(ExperimentSpec.LateSinkOf(SinkName), ForCounting);
    }

    /// <summary>Lets the error queue refuse every message, until the result is disposed of.</summary>
    public Task<IAsyncDisposable> RefuseDeadLettersAsync(CancellationToken cancellationToken) =>
        Transport.Of(Cell).RefuseAsync(
            Place.ForRunner, ErrorQueue.Of(Place.Queue), Cell.Kind.TableOf(ErrorQueue.Of(Place.Queue)), cancellationToken);

    /// <summary>All counts that can still change.</summary>
    public async Task<Counters> CountAsync(CancellationToken cancellationToken)
    {
        for (var lost = 0; ; lost++)
        {
            try
            {
                return await CountOnceAsync(cancellationToken);
            }
            catch (NpgsqlException) when (lost < CountingSources)
            {
                // Its server has crashed or restarted since the last count. The next attempt opens a new session.
            }
        }
    }

    private async Task<Counters> CountOnceAsync(CancellationToken cancellationToken)
    {
        // First: a message that it dispatches in the meantime is counted twice rather than not at all.
        var outbox = hasStarted ? await Database.CountOutboxAsync(cancellationToken) : 0;
        var (rows, prepared) = await Database.CountAsync(cancellationToken);
        return new Counters(
            rows,
            prepared,
            await countedQueue.CountAsync(cancellationToken),
            await CountSinksAsync(cancellationToken),
            (await countedQueue.ReadErrorsAsync(cancellationToken)).Count,
            outbox,
            Journal.Count());
    }

    /// <summary>The history of the messages. Read it when no count changes and no endpoint runs.</summary>
    public async Task<History> ReadHistoryAsync(CancellationToken cancellationToken)
    {
        List<SinkRow> arrived = [.. await stage.Sinks.ReadAsync(sendings.Select(sending => stage.Messages.Find(sending.MessageId)!), cancellationToken)];
        foreach (var (index, each) in sinks.Concat(lateSink is null ? [] : [lateSink]).Index())
        {
            // An outgoing message has the id of the message that caused it.
            arrived.AddRange((await each.ReadMessagesAsync(cancellationToken)).Select(id => new SinkRow(id, id) { Queue = index }));
        }

        return new History
        {
            Sendings = sendings,
            Attempts = AttemptJournal.Read(JournalPath),
            Rows = await Database.ReadRowsAsync(cancellationToken),
            Sink = ItsScenario is not null || Shape.Subscribers > 0
                ? arrived
                : [.. Shape.SendsOf(arrived.Select(row => row.CausedBy))],
            Errors = [.. (await stage.Queue.ReadErrorsAsync(cancellationToken)).Select(error => error.MessageId)],
            Queue = [.. (await stage.Queue.ReadMessagesAsync(cancellationToken)).Select(id => new QueueEntry(id, Receivable: true))],
            Prepared = await databases.ReadPreparedAsync(cancellationToken),
        };
    }

    public async ValueTask DisposeAsync()
    {
        // What is left of its servers may not answer.
        if (handler is not null)
            await EndHandlerAsync();
        await WidgetsProxy.DisposeAsync();
        await TransportProxy.DisposeAsync();
        await countedQueue.DisposeAsync();
        foreach (var sink in sinks.Concat(countedSinks))
            await sink.DisposeAsync();
        if (lateSink is not null)
            await lateSink.DisposeAsync();
        if (countedLateSink is not null)
            await countedLateSink.DisposeAsync();
        await Database.DisposeAsync();
        await stage.DisposeAsync();
        Directory.Delete(folder, recursive: true);
    }

    private async Task<long> CountSinksAsync(CancellationToken cancellationToken)
    {
        var count = 0L;
        foreach (var sink in countedSinks.Concat(countedLateSink is null ? [] : [countedLateSink]))
            count += await sink.CountAsync(cancellationToken);
        return count;
    }

    private FaultProxy ProxyOf(ProxyRoute route, string address, string server)
    {
        var (host, port) = route.ServerOf(address);
        return new FaultProxy(
            host, port, gate is null ? ProxiedNetwork.Loopback : new ProxiedNetwork { Filter = sides => gate.Open(server, route.Wire!(), sides) });
    }

    private string AddressOf(ProxyRoute route, string address, FaultProxy proxy)
    {
        var proxied = route.Through(address, proxy.Port);
        return isRecorded ? route.WithLimit(proxied, AnswerLimit) : proxied;
    }

    private string WaitingOrNot(string connectionString, Unflushed of) => Unflushed.HasFlag(of)
        ? new NpgsqlConnectionStringBuilder(connectionString) { Options = "-c synchronous_commit=off" }.ConnectionString
        : connectionString;
}
