using System.Diagnostics;
using System.Globalization;
using System.Text.Json;
using Kit.Endpoints.Bare.RabbitMq;
using Kit.Prove.Files;
using Kit.Runner.Measuring;
using Kit.Runner.Results;
using Kit.Runner.Servers;
using Kit.Runner.Wire;
using Npgsql;

namespace Kit.Prove.Service;

/// <summary>
/// Databases and a virtual host for one process of an application at a time, and a proxy in front of each. The kit itself goes around the proxies.
/// </summary>
internal sealed class ProofBed : IAsyncDisposable
{
    /// <summary>Seconds for each look of the kit, and for the locks that it waits for.</summary>
    private const int SecondsToLook = 5;

    /// <summary>The name of the kit's own sessions.</summary>
    private const string KitsOwn = "kit runner";

    private static int made;

    private readonly ProofServers servers;
    private readonly RequestGate gate;
    private readonly NetworkMeter? meter;
    private readonly Dictionary<string, NpgsqlDataSource> sources = [];
    private readonly Dictionary<string, NpgsqlConnectionStringBuilder> databases = [];
    private readonly Dictionary<string, FaultProxy> proxies = [];
    private readonly CallCounter calls;
    private readonly int applicationPort = LoopbackPorts.Free(1)[0];
    private BrokerSpace? space;
    private BrokerQueues? queues;
    private ICommits? commits;

    private ProofBed(ProofServers servers, RequestGate gate, NetworkMeter? meter) =>
        (this.servers, this.gate, this.meter, calls) = (servers, gate, meter, new CallCounter(gate));

    public IReadOnlyCollection<FaultProxy> Proxies => proxies.Values;

    /// <summary>The most connections that the application had open to each database at the same time, together.</summary>
    public int MostConnections => databases.Keys.Sum(database => proxies[database].MostConnections);

    /// <summary>The names of the servers in requests.</summary>
    public IEnumerable<string> ProxiedServers => proxies.Keys;

    /// <summary>The broker's queues.</summary>
    /// <exception cref="InvalidOperationException">There is no broker.</exception>
    public BrokerQueues Queues => queues ?? throw new InvalidOperationException("The proof has no broker.");

    /// <summary>The calls that the application has made to the kit's endpoint.</summary>
    public CallCounter Calls => calls;

    /// <summary>The values for the application: through the proxies.</summary>
    public Placeholders ForApplication => PlaceholdersWith(proxies.ToDictionary(proxy => proxy.Key, proxy => proxy.Value.Port));

    /// <summary>The values for a service that is measured: through the proxies only if they measure or delay.</summary>
    public Placeholders ForMeasured => meter is null ? Direct : ForApplication;

    /// <summary>The values for everyone else: directly to the servers.</summary>
    public Placeholders Direct => PlaceholdersWith(new Dictionary<string, int>());

    /// <summary>Creates everything that the file names, and executes its setup.</summary>
    /// <param name="meter">Measures what passes through the proxies, which read no request then; <see langword="null"/>: the gate reads them.</param>
    /// <exception cref="KitException">A statement of the setup failed.</exception>
    public static async Task<ProofBed> CreateAsync(
        ProofFile file, ProofServers servers, RequestGate gate, CancellationToken cancellationToken, NetworkMeter? meter = null)
    {
        var bed = new ProofBed(servers, gate, meter);
        try
        {
            var number = Interlocked.Increment(ref made);
            foreach (var database in file.Databases.Distinct())
                await bed.AddDatabaseAsync(database, $"{database}_{number}", cancellationToken);
            if (servers.RabbitMq is { } broker)
                await bed.AddBrokerAsync(broker, file.Queues, cancellationToken);
            foreach (var (database, sql) in file.Setup)
                await bed.SetUpAsync(file, database, sql, cancellationToken);
            if (file.ReadsCommits)
                bed.commits = await servers.BeginCommitsAsync(
                    file, [.. bed.sources.Select(source => (source.Key, source.Value, bed.ForKit(bed.databases[source.Key].ConnectionString)))],
                    cancellationToken);
            return bed;
        }
        catch
        {
            await bed.DisposeAsync();
            throw;
        }
    }

    /// <summary>Waits until the broker has noticed that the application's process is dead.</summary>
    /// <param name="names">Queues from which it can have received.</param>
    /// <exception cref="KitException">A queue still has a consumer.</exception>
    public Task WaitForNoConsumerAsync(IEnumerable<string> names) =>
        space is null ? Task.CompletedTask : BrokerQueues.WaitForNoConsumerAsync(space.Address, names, CancellationToken.None);

    /// <summary>A statement that waits for a lock for as long as <see cref="SecondsToLook"/>.</summary>
    public static string WaitsForALock(string sql) => $"SET lock_timeout = '{SecondsToLook}s'; {sql}";

    /// <summary>Executes a statement.</summary>
    /// <exception cref="PostgresException">The server refuses it.</exception>
    public async Task ExecuteAsync(string database, string sql, CancellationToken cancellationToken)
    {
        await using var command = sources[database].CreateCommand(sql);
        await command.ExecuteNonQueryAsync(cancellationToken);
    }

    /// <summary>
    /// The first column of each row, as text. It waits for a lock as <see cref="WaitsForALock"/> says. Its transaction is rolled back, so that the server's
    /// count of commits is that of the application.
    /// </summary>
    /// <inheritdoc cref="ExecuteAsync" path="/exception"/>
    /// <exception cref="KitException">It returns a second result, which would be left unread.</exception>
    public async Task<IReadOnlyList<string>> ReadAsync(string database, string sql, CancellationToken cancellationToken)
    {
        await using var connection = await sources[database].OpenConnectionAsync(cancellationToken);
        await using var transaction = await connection.BeginTransactionAsync(cancellationToken);
        await using var command = new NpgsqlCommand(WaitsForALock(sql), connection, transaction);
        await using var reader = await command.ExecuteReaderAsync(cancellationToken);
        var texts = new List<string>();
        while (await reader.ReadAsync(cancellationToken))
            texts.Add(Convert.ToString(reader.GetValue(0), CultureInfo.InvariantCulture)!);

        return await reader.NextResultAsync(cancellationToken)
            ? throw new KitException($"Only the first result of a statement is read, and this one has more: {sql}", "Join the queries with UNION ALL.")
            {
                IsUsage = true,
            }
            : texts;
    }

    /// <summary>
    /// The number of rows that a statement returns. Its transaction is rolled back, so that the server's count of commits is that of the application.
    /// </summary>
    /// <inheritdoc cref="ExecuteAsync" path="/exception"/>
    public async Task<long> CountRowsAsync(string database, string sql, CancellationToken cancellationToken)
    {
        await using var connection = await sources[database].OpenConnectionAsync(cancellationToken);
        await using var transaction = await connection.BeginTransactionAsync(cancellationToken);
        await using var count = new NpgsqlCommand($"SELECT count(*) FROM ({sql.TrimEnd().TrimEnd(';')}\n) AS effect", connection, transaction);
        return (long)(await count.ExecuteScalarAsync(cancellationToken))!;
    }

    /// <summary>Executes many statements, each in a transaction of its own whose commit does not wait for the disk.</summary>
    /// <inheritdoc cref="ExecuteAsync" path="/exception"/>
    public async Task ExecuteAllAsync(string database, IEnumerable<string> statements, CancellationToken cancellationToken)
    {
        await using var connection = await sources[database].OpenConnectionAsync(cancellationToken);
        await using (var quick = new NpgsqlCommand("SET synchronous_commit = off", connection))
            await quick.ExecuteNonQueryAsync(cancellationToken);
        foreach (var sql in statements)
        {
            await using var command = new NpgsqlCommand(sql, connection);
            await command.ExecuteNonQueryAsync(cancellationToken);
        }
    }

    /// <summary>The counters of its databases, while the application does not run; <see langword="null"/>: it has none.</summary>
    public async Task<ServerCounters?> ReadCountersAsync(CancellationToken cancellationToken)
    {
        if (databases.Count == 0)
            return null;

        // An open session has not reported all that it did.
        foreach (var source in sources.Values)
            source.Clear();
        await using var server = new NpgsqlConnection(ForKit(servers.PostgreSql!));
        await server.OpenAsync(cancellationToken);
        return await ServerCounters.ReadAsync(
            server, [.. databases.Values.Select(database => database.Database!)], cancellationToken, commits?.Sessions ?? []);
    }

    /// <summary>Looks at what the application's sessions do, from now on; <see langword="null"/>: it has no database.</summary>
    public async Task<SessionSampler?> SampleSessionsAsync(CancellationToken cancellationToken) => databases.Count == 0
        ? null
        : await SessionSampler.StartAsync(
            ForKit(servers.PostgreSql!), KitsOwn, [.. databases.Values.Select(database => database.Database!)], cancellationToken);

    /// <summary>Lets the server do now what it would do on its own while it is measured.</summary>
    public async Task SettleAsync(CancellationToken cancellationToken)
    {
        foreach (var database in databases.Values)
            await DatabaseOwner.SettleAsync(ForKit(database.ConnectionString), cancellationToken);
    }

    /// <summary>The transactions committed since the last time, if the log tells; <see langword="null"/> if the file does not ask for them.</summary>
    public async Task<IReadOnlyList<CommittedTransaction>?> ReadCommitsAsync(CancellationToken cancellationToken) =>
        commits is null ? null : await commits.ReadAsync(cancellationToken);

    /// <summary>
    /// The transactions as they are committed; <see langword="null"/>: the file does not ask for them, or the server's log cannot be decoded. Disposed before
    /// this.
    /// </summary>
    /// <inheritdoc cref="CommitLog.StreamAsync" path="/param"/>
    /// <inheritdoc cref="CommitLog.StreamAsync" path="/exception"/>
    public async Task<CommitStream?> StreamCommitsAsync(Action<CommittedTransaction> take, CancellationToken cancellationToken) =>
        // Commit timestamps tell of rows, which do not come by themselves.
        commits is CommitLog log ? await log.StreamAsync(take, cancellationToken) : null;

    /// <summary>Connections for one sender, apart from those of others.</summary>
    public async Task<SendersOwn> OpenSenderAsync(WayToSend way, CancellationToken cancellationToken) => way switch
    {
        SendBySql(var database, _) => new SendersOwn(await ConnectAsync(database, cancellationToken), Queues: null),
        SendToQueue => new SendersOwn(Connection: null, await BrokerQueues.OpenAsync(space!.Address, cancellationToken)),
        SendByHttp or SendByCommand => new SendersOwn(Connection: null, Queues: null),
        _ => throw new UnreachableException($"No such way to send: {way}."),
    };

    /// <summary>The prepared transactions of its databases.</summary>
    public async Task<int> CountPreparedAsync(CancellationToken cancellationToken)
    {
        if (databases.Count == 0)
            return 0;

        await using var command = sources.Values.First().CreateCommand("SELECT count(*)::int FROM pg_prepared_xacts WHERE database = ANY($1)");
        command.Parameters.Add(new NpgsqlParameter<string[]> { TypedValue = [.. databases.Values.Select(database => database.Database!)] });
        return (int)(await command.ExecuteScalarAsync(cancellationToken))!;
    }

    /// <summary>A line for each row of a statement about the server.</summary>
    /// <param name="sql">$1: the names of its databases; $2, if there: a moment.</param>
    /// <exception cref="NpgsqlException">The server refuses it, or does not answer in time.</exception>
    public async Task<IReadOnlyList<string>> ReadServerAsync(
        string sql, Func<NpgsqlDataReader, string> lineOf, DateTime moment, CancellationToken cancellationToken)
    {
        await using var command = sources.Values.First().CreateCommand(sql);
        command.CommandTimeout = SecondsToLook;
        command.Parameters.Add(new NpgsqlParameter<string[]> { TypedValue = [.. databases.Values.Select(database => database.Database!)] });
        if (sql.Contains("$2", StringComparison.Ordinal))
            command.Parameters.Add(new NpgsqlParameter<DateTime> { TypedValue = moment });
        await using var reader = await command.ExecuteReaderAsync(cancellationToken);
        var lines = new List<string>();
        while (await reader.ReadAsync(cancellationToken))
            lines.Add(lineOf(reader));
        return lines;
    }

    /// <summary>The rows of a database's tables that have the id of a message.</summary>
    /// <exception cref="NpgsqlException">A table is locked.</exception>
    public async Task<IReadOnlyList<WorkRow>> FindRowsAsync(string database, Guid message, CancellationToken cancellationToken)
    {
        var tables = await ReadAsync(
            database,
            "SELECT CASE n.nspname WHEN 'public' THEN '' ELSE quote_ident(n.nspname) || '.' END || quote_ident(c.relname) " +
            "FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace " +
            "WHERE c.relkind = 'r' AND n.nspname NOT IN ('pg_catalog', 'information_schema') ORDER BY c.oid",
            cancellationToken);
        var rows = new List<WorkRow>();
        if (tables.Count == 0)
            return rows;

        // Its name is not that of a column: the whole row is meant.
        await using var command = sources[database].CreateCommand(string.Join(
            " UNION ALL ",
            tables.Select(table => $"SELECT '{table.Replace("'", "''", StringComparison.Ordinal)}', to_jsonb(the_kits_row) FROM {table} AS the_kits_row " +
                "WHERE the_kits_row::text ILIKE $1")));
        command.CommandTimeout = SecondsToLook;
        command.Parameters.Add(new NpgsqlParameter<string> { TypedValue = $"%{message}%" });
        await using var reader = await command.ExecuteReaderAsync(cancellationToken);
        while (await reader.ReadAsync(cancellationToken))
            rows.Add(new WorkRow(reader.GetString(0), JsonSerializer.Deserialize<Dictionary<string, JsonElement>>(reader.GetString(1))!));
        return rows;
    }

    public ValueTask DisposeAsync() => Disposal.OfAllAsync(
        [.. proxies.Values, calls, commits, .. sources.Values, queues],
        [
            .. space is null ? Array.Empty<Func<Task>>() : [() => servers.RemoveAsync(space)],
            .. databases.Values.Select(database => (Func<Task>)(() => servers.DropDatabaseAsync(database.Database!))),
        ]);

    /// <summary>A connection of its own: the pools of the kit are small.</summary>
    private async Task<NpgsqlConnection> ConnectAsync(string database, CancellationToken cancellationToken)
    {
        var connection = new NpgsqlConnection(
            new NpgsqlConnectionStringBuilder(ForKit(databases[database].ConnectionString)) { Pooling = false }.ConnectionString);
        await connection.OpenAsync(cancellationToken);
        return connection;
    }

    private async Task AddDatabaseAsync(string database, string name, CancellationToken cancellationToken)
    {
        await servers.CreateDatabaseAsync(
            name, given => databases[database] = new NpgsqlConnectionStringBuilder(servers.PostgreSql!) { Database = given }, cancellationToken);
        var connection = databases[database];
        sources[database] = NpgsqlDataSource.Create(ForKit(connection.ConnectionString));
        proxies[database] = new FaultProxy(
            connection.Host!, connection.Port,
            meter?.NetworkOfSql ?? new ProxiedNetwork { Filter = sides => gate.Open(database, new PostgreSqlWire(), sides) });
    }

    private async Task AddBrokerAsync(RabbitMqAddress broker, IEnumerable<string> names, CancellationToken cancellationToken)
    {
        space = await BrokerSpace.CreateAsync(broker, cancellationToken);
        queues = await BrokerQueues.OpenAsync(space.Address, cancellationToken);
        foreach (var queue in names)
            await queues.CreateAsync(queue, cancellationToken);
        proxies[Placeholders.Broker] = new FaultProxy(
            broker.Amqp.DnsSafeHost, broker.Amqp.Port,
            meter?.Network ?? new ProxiedNetwork { Filter = sides => gate.Open(Placeholders.Broker, new AmqpWire(), sides) });
    }

    private async Task SetUpAsync(ProofFile file, string database, string sql, CancellationToken cancellationToken)
    {
        try
        {
            await ExecuteAsync(database, sql, cancellationToken);
        }
        catch (PostgresException refused)
        {
            throw new KitException(
                $"{file.Path}: a statement of 'setup' fails in database '{database}': {refused.MessageText}. The statement: {sql}",
                "Correct the statement.", refused)
            { IsUsage = true };
        }
    }

    private Placeholders PlaceholdersWith(IReadOnlyDictionary<string, int> ports) =>
        Placeholders.Of(databases, space?.Address.Amqp, ports, calls.Address, applicationPort);

    private string ForKit(string connection) =>
        servers.ForKit(new NpgsqlConnectionStringBuilder(connection) { ApplicationName = KitsOwn, MaxPoolSize = 5 }.ConnectionString);
}

/// <summary>The connections of one sender; those that its way to send does not need are <see langword="null"/>.</summary>
internal sealed record SendersOwn(NpgsqlConnection? Connection, BrokerQueues? Queues) : IAsyncDisposable
{
    public async ValueTask DisposeAsync()
    {
        if (Connection is not null)
            await Connection.DisposeAsync();
        if (Queues is not null)
            await Queues.DisposeAsync();
    }
}
