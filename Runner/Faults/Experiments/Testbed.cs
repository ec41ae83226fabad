using Kit.Endpoints.Bare;
using Kit.Endpoints.Cells;
using Kit.Handlers;
using Kit.Modes;
using Kit.Runner.Results;
using Kit.Runner.Results.Accounts;
using Kit.Runner.Rounds;
using Kit.Runner.Transports;
using Npgsql;

namespace Kit.Runner.Faults.Experiments;

/// <summary>
/// One cell set up for an experiment: fresh databases and queues, a proxy on each connection of the endpoint, a journal of attempts, and
/// handler processes to start and to kill.
/// </summary>
internal sealed class Testbed : IAsyncDisposable
{
    public const int Concurrency = 2;

    private const string Sink = "sink";

    /// <summary>The widgets of an experiment know their attempt. The function fails a commit once: sequences are not rolled back.</summary>
    private const string CreateTables =
        """
        ALTER TABLE widget ADD attempt_id uuid NOT NULL;
        CREATE SEQUENCE commits_failed;
        CREATE FUNCTION fail_commit() RETURNS trigger LANGUAGE plpgsql AS $$
        BEGIN
            IF nextval('commits_failed') = 1 THEN
                RAISE EXCEPTION 'The experiment wants this commit to fail.' USING ERRCODE = 'integrity_constraint_violation';
            END IF;
            RETURN NULL;
        END $$;
        """;

    private readonly Cell cell;
    private readonly ProxyRoute toTransport;
    private readonly ProxyRoute toWidgets;
    private readonly KitDatabases owner;
    private readonly RoundDatabases databases;
    private readonly RoundTransport transport;
    private readonly IMessageQueue queue;
    private readonly IMessageQueue sink;
    private readonly NpgsqlDataSource widgets;
    private readonly string folder = Directory.CreateTempSubdirectory("kit-faults-").FullName;
    private readonly List<Sending> sendings = [];
    private IMessageQueue? lateSink;
    private HandlerProcess? handler;

    private Testbed(Cell cell, KitDatabases owner, RoundDatabases databases, RoundTransport transport)
    {
        this.cell = cell;
        this.owner = owner;
        this.databases = databases;
        this.transport = transport;
        var itsTransport = Transport.Of(cell);
        (toTransport, toWidgets) = (itsTransport.ProxyRoute!, itsTransport.Widgets.ProxyRoute!);
        queue = cell.Kind.OpenQueue(transport.Queue, transport.ForRunner);
        sink = cell.Kind.OpenQueue(SinkName, transport.ForRunner);
        widgets = NpgsqlDataSource.Create(EndpointConnections.ForRunner(databases.Widgets));
        WidgetsProxy = ProxyOf(toWidgets, databases.WidgetsForEndpoint);
        // One connection serves both where the mode needs them in one database.
        TransportProxy = transport.ForEndpoint == databases.WidgetsForEndpoint ? WidgetsProxy : ProxyOf(toTransport, transport.ForEndpoint);
    }

    /// <summary>Between the endpoint and the widgets' database.</summary>
    public FaultProxy WidgetsProxy { get; }

    /// <summary>Between the endpoint and its queues; the same where one connection serves both.</summary>
    public FaultProxy TransportProxy { get; }

    /// <summary>What one undisturbed attempt leaves behind.</summary>
    public Workload Workload => new(ExperimentHandler.RowsPerAttempt, Sends: true, ReceiveIsBranch: cell.Mode.RowCommit is RowCommit.InTwoPhases);

    public JournalTail Journal => field ??= new JournalTail(JournalPath);

    /// <summary>Of the kit's own two-phase commit; <see langword="null"/> in a mode without it.</summary>
    public WindowsWatch? Windows => field ??= cell.Mode.RowCommit is RowCommit.InTwoPhases && cell.Mode.CrashEffect is CrashEffect.None
        ? new WindowsWatch(widgets, JournalPath, databases.Names)
        : null;

    private string JournalPath => Path.Combine(folder, "attempts.jsonl");

    private string SinkName => $"{transport.Queue}-{Sink}";

    /// <exception cref="NpgsqlException">The database cannot be reached.</exception>
    public static async Task<Testbed> CreateAsync(Cell cell, RunServers servers, CancellationToken cancellationToken)
    {
        var kit = new KitDatabases(servers.WidgetsOf(cell).ConnectionString);
        var empty = await kit.CreateEmptyAsync(cancellationToken);
        var testbed = new Testbed(cell, kit, empty, await servers.Of(cell).OpenAsync(cell, "widgets", empty, cancellationToken));
        try
        {
            await testbed.ExecuteAsync(CreateTables + Deadlock.CreateTable, cancellationToken);
            await testbed.queue.CreateAsync(cancellationToken);
            await testbed.sink.CreateAsync(cancellationToken);
            return testbed;
        }
        catch
        {
            await testbed.DisposeAsync();
            throw;
        }
    }

    /// <summary>Starts a handler process and its endpoint.</summary>
    /// <param name="chosen">The message that meets the fault.</param>
    /// <param name="behaviour">What the handler does with it.</param>
    /// <param name="parksAt">Where it parks, if it does.</param>
    /// <param name="cancellationToken">Ends the attempt.</param>
    /// <exception cref="KitException">It does not come up.</exception>
    public async Task StartHandlerAsync(Guid chosen, Behaviour behaviour, AttemptPoint parksAt, CancellationToken cancellationToken)
    {
        var experiment = new ExperimentSpec(
            JournalPath, SinkName, transport.ForRunner, EndpointConnections.ForRunner(databases.Widgets),
            chosen, behaviour, parksAt);
        handler = await HandlerProcess.StartAsync(
            new HandlerSpec(
                cell.Name, transport.Queue, toTransport.Through(transport.ForEndpoint, TransportProxy.Port),
                toWidgets.Through(databases.WidgetsForEndpoint, WidgetsProxy.Port), Concurrency, RecordCompletions: false)
            {
                Experiment = experiment,
                TransactionTimeout = behaviour is Behaviour.OutlivesItsTransaction ? ExperimentSpec.ShortTransaction : null,
            },
            cancellationToken);
        await handler.StartEndpointAsync(cancellationToken);
    }

    /// <summary>Cuts every connection of the endpoint to its transport, and tells the attempt that waits for it.</summary>
    public async Task CutReceiveAsync(Guid attempt)
    {
        await TransportProxy.EndAllAsync(Ending.Cut);
        LetGo(attempt);
    }

    /// <summary>Lets an attempt go on that waits for a cut.</summary>
    public void LetGo(Guid attempt) => File.WriteAllBytes(ExperimentSpec.CutMark(JournalPath, attempt), []);

    /// <summary>Lets every attempt go on that waits for a cut or will: nobody cuts any more, and an endpoint does not stop while a handler waits.</summary>
    public void LetGoOfAll() => File.WriteAllBytes(ExperimentSpec.NoMoreCutsMark(JournalPath), []);

    /// <summary>Kills the handler process, and ends what it leaves in the proxies as the operating system would end its connections.</summary>
    /// <returns>Its exit code.</returns>
    public async Task<int> KillHandlerAsync()
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

    /// <exception cref="KitException">The handler process has ended by itself.</exception>
    public void ThrowIfBroken() => handler?.ThrowIfBroken();

    public async Task SendAsync(IReadOnlyCollection<Guid> messages, CancellationToken cancellationToken)
    {
        await queue.PreloadAsync([.. messages.Select(message => new BuildWidget(message))], cancellationToken);
        sendings.AddRange(messages.Select(message => new Sending(message, SendResult.Acked)));
    }

    /// <summary>Creates the queue that the handler has sent to.</summary>
    public async Task CreateLateSinkAsync(CancellationToken cancellationToken)
    {
        lateSink = cell.Kind.OpenQueue(ExperimentSpec.LateSinkOf(SinkName), transport.ForRunner);
        await lateSink.CreateAsync(cancellationToken);
    }

    /// <summary>From now on the message's first commit fails.</summary>
    public Task FailCommitOfAsync(Guid message, CancellationToken cancellationToken) =>
        ExecuteAsync(
            $"""
            CREATE CONSTRAINT TRIGGER fail_commit AFTER INSERT ON widget DEFERRABLE INITIALLY DEFERRED
            FOR EACH ROW WHEN (NEW.message_id = '{message}') EXECUTE FUNCTION fail_commit();
            """,
            cancellationToken);

    public async Task<bool> HasFailedACommitAsync(CancellationToken cancellationToken)
    {
        await using var command = widgets.CreateCommand("SELECT is_called FROM commits_failed");
        return (bool)(await command.ExecuteScalarAsync(cancellationToken))!;
    }

    /// <summary>All that can still move.</summary>
    public async Task<Counters> CountAsync(CancellationToken cancellationToken)
    {
        var outbox = await CountOutboxAsync(cancellationToken);
        await using var command = widgets.CreateCommand(
            "SELECT (SELECT count(*) FROM widget), (SELECT count(*) FROM pg_prepared_xacts WHERE database = ANY($1))");
        command.Parameters.Add(new NpgsqlParameter<string[]> { TypedValue = [.. databases.Names] });
        await using var reader = await command.ExecuteReaderAsync(cancellationToken);
        await reader.ReadAsync(cancellationToken);
        return new Counters(
            reader.GetInt64(0),
            reader.GetInt64(1),
            await queue.CountAsync(cancellationToken),
            await sink.CountAsync(cancellationToken) + (lateSink is null ? 0 : await lateSink.CountAsync(cancellationToken)),
            (await queue.ReadErrorsAsync(cancellationToken)).Count,
            outbox,
            Journal.Count());
    }

    /// <summary>Everything that is known of the messages. To be read when nothing moves and no endpoint runs.</summary>
    public async Task<History> ReadHistoryAsync(CancellationToken cancellationToken)
    {
        IReadOnlyList<Guid> late = lateSink is null ? [] : await lateSink.ReadMessagesAsync(cancellationToken);
        IReadOnlyList<Guid> outgoing = [.. await sink.ReadMessagesAsync(cancellationToken), .. late];
        return new History
        {
            Sendings = sendings,
            Attempts = AttemptJournal.Read(JournalPath),
            Rows = await ReadAsync(
                "SELECT id, message_id, attempt_id FROM widget",
                row => new WidgetRow(row.GetInt64(0), row.GetGuid(1), row.GetGuid(2)),
                cancellationToken),
            // An outgoing message bears the id of the one that caused it.
            Sink = [.. outgoing.Select(id => new SinkRow(id, id))],
            Errors = [.. (await queue.ReadErrorsAsync(cancellationToken)).Select(error => error.MessageId)],
            Queue = [.. (await queue.ReadMessagesAsync(cancellationToken)).Select(id => new QueueEntry(id, Receivable: true))],
            Prepared = await databases.ReadPreparedAsync(cancellationToken),
        };
    }

    public async ValueTask DisposeAsync()
    {
        if (handler is not null)
            await KillHandlerAsync();
        await WidgetsProxy.DisposeAsync();
        await TransportProxy.DisposeAsync();
        await queue.DisposeAsync();
        await sink.DisposeAsync();
        if (lateSink is not null)
            await lateSink.DisposeAsync();
        await transport.DisposeAsync();
        await widgets.DisposeAsync();
        await owner.DisposeAsync();
        Directory.Delete(folder, recursive: true);
    }

    /// <summary>The sends that wait in a bare endpoint's outbox, which the endpoint creates when it starts.</summary>
    private async Task<long> CountOutboxAsync(CancellationToken cancellationToken)
    {
        var table = $"\"{transport.Queue}_outbox\"";
        await using var isThere = widgets.CreateCommand($"SELECT to_regclass('{table}') IS NOT NULL");
        if (await isThere.ExecuteScalarAsync(cancellationToken) is not true)
            return 0;

        await using var count = widgets.CreateCommand($"SELECT count(*) FROM {table}");
        return (long)(await count.ExecuteScalarAsync(cancellationToken))!;
    }

    private static FaultProxy ProxyOf(ProxyRoute route, string address)
    {
        var (host, port) = route.ServerOf(address);
        return new FaultProxy(host, port);
    }

    private async Task<IReadOnlyList<T>> ReadAsync<T>(string query, Func<NpgsqlDataReader, T> read, CancellationToken cancellationToken)
    {
        await using var command = widgets.CreateCommand(query);
        await using var reader = await command.ExecuteReaderAsync(cancellationToken);
        var rows = new List<T>();
        while (await reader.ReadAsync(cancellationToken))
            rows.Add(read(reader));

        return rows;
    }

    private async Task ExecuteAsync(string statements, CancellationToken cancellationToken)
    {
        await using var command = widgets.CreateCommand(statements);
        await command.ExecuteNonQueryAsync(cancellationToken);
    }
}
