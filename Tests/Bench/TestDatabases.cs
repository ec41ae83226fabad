using System.Runtime.CompilerServices;
using Kit.Modes;
using Kit.Runner.Servers;
using Npgsql;

namespace Kit.Tests;

/// <summary>A database for queues and one for widgets, as new for each test, on the tests' server or one that a test names.</summary>
internal sealed class TestDatabases : ITestWidgets
{
    /// <summary>For a statement, in s: making and dropping a database waits for a checkpoint, and so for a disk that others keep busy.</summary>
    internal static readonly int Patience = (int)Eventually.Limit.TotalSeconds;

    private static readonly ConditionalWeakTable<PrivatePostgreSql, SpareDatabases> SparesOf = [];

    private readonly string server;
    private readonly SpareDatabases? spares;
    private readonly bool hasQueue;
    private readonly string name = $"test_{Guid.NewGuid():N}";
    private readonly NpgsqlDataSource widgets;

    private TestDatabases(string server, SpareDatabases? spares, bool hasQueue = true)
    {
        this.server = server;
        this.spares = spares;
        this.hasQueue = hasQueue;
        // What a test waits for is counted again and again. A server that a test has for itself may be stopped, and a pool would not notice.
        var connection = new NpgsqlConnectionStringBuilder(Widgets) { Enlist = false };
        connection.Pooling &= spares is not null;
        widgets = NpgsqlDataSource.Create(connection);
    }

    public string Queue => ConnectionTo(QueueName);

    public string Widgets => ConnectionTo(WidgetsName);

    private string QueueName => name + "_queue";

    private string WidgetsName => name + "_widgets";

    private string[] Names => hasQueue ? [QueueName, WidgetsName] : [WidgetsName];

    /// <summary>The database that a queue is in: its own, or the widgets' in a mode that needs one database.</summary>
    public string QueueOf(TransactionMode mode) => mode.NeedsOneDatabase ? Widgets : Queue;

    /// <param name="server">Connection string; the tests' own server when not given.</param>
    public static async Task<TestDatabases> CreateAsync(string? server = null) => await CreateAsync(server is null
        ? new TestDatabases((await PostgreSqlServer.GetAsync()).ConnectionString, await PostgreSqlServer.GetSparesAsync())
        : new TestDatabases(server, spares: null));

    /// <param name="server">A fixture's own, which its tests may stop.</param>
    /// <param name="hasQueue">Whether there is a database for queues, too.</param>
    public static Task<TestDatabases> CreateAsync(PrivatePostgreSql server, bool hasQueue = true)
    {
        var unpooled = new NpgsqlConnectionStringBuilder(server.ConnectionString) { Pooling = false }.ConnectionString;
        return CreateAsync(new TestDatabases(unpooled, SparesOf.GetValue(server, _ => new SpareDatabases(unpooled)), hasQueue));
    }

    private static async Task<TestDatabases> CreateAsync(TestDatabases databases)
    {
        foreach (var database in databases.Names)
            await (databases.spares?.TakeAsync(database) ?? ExecuteAsync(databases.server, $"CREATE DATABASE {database}"));

        await ExecuteAsync(databases.widgets, "CREATE TABLE widget (id bigint PRIMARY KEY, message_id uuid NOT NULL)");
        return databases;
    }

    public Task<int> CountRowsAsync() => ScalarAsync(widgets, "SELECT count(*)::int FROM widget");

    public Task<int> CountRowsAsync(Guid message) => ScalarAsync(widgets, $"SELECT count(*)::int FROM widget WHERE message_id = '{message}'");

    public async Task<IReadOnlyDictionary<Guid, int>> ReadRowsByMessageAsync()
    {
        await using var command = widgets.CreateCommand("SELECT message_id, count(*)::int FROM widget GROUP BY message_id");
        await using var reader = await command.ExecuteReaderAsync();
        var rows = new Dictionary<Guid, int>();
        while (await reader.ReadAsync())
            rows.Add(reader.GetGuid(0), reader.GetInt32(1));

        return rows;
    }

    /// <summary>Ends the sessions that wait in a transaction in the database of that ending, and gives how many there were.</summary>
    public Task<int> TerminateSessionsInTransactionAsync(string ending) => ScalarAsync(
        server,
        $"SELECT count(pg_terminate_backend(pid))::int FROM pg_stat_activity WHERE datname = '{name}{ending}' AND state = 'idle in transaction'");

    /// <summary>Lets nobody into the widgets' database, not even a superuser, and ends the sessions that are there; or lets all in again.</summary>
    public async Task AllowConnectionsToWidgetsAsync(bool allow)
    {
        await ExecuteAsync(server, $"ALTER DATABASE {name}_widgets ALLOW_CONNECTIONS {allow}");
        widgets.Clear();
        if (!allow)
            await ExecuteAsync(server, $"SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = '{name}_widgets'");
    }

    /// <summary>New sessions in the database of that ending are ended when they wait in a transaction for longer than this.</summary>
    public Task LimitIdleTransactionsAsync(string ending, string limit) =>
        ExecuteAsync(server, $"ALTER DATABASE {name}{ending} SET idle_in_transaction_session_timeout = '{limit}'");

    /// <summary>The prepared branches, each with what became of the transaction that decides it.</summary>
    public async Task<IReadOnlyList<string>> ReadDecisionsAsync()
    {
        await using var source = SourceOf(Queue);
        await using var command = source.CreateCommand(
            "SELECT gid || ' ' || pg_xact_status(split_part(gid, '/', 4)::xid8) FROM pg_prepared_xacts " +
            $"WHERE database = '{name}_widgets' AND starts_with(gid, 'kit/')");
        await using var reader = await command.ExecuteReaderAsync();
        var decisions = new List<string>();
        while (await reader.ReadAsync())
            decisions.Add(reader.GetString(0));

        return decisions;
    }

    /// <summary>From now on a deferred constraint refuses every commit that inserts a widget.</summary>
    /// <param name="widgets">Connection string of the database with the widgets.</param>
    public static Task RefuseCommitsAsync(string widgets) => ExecuteAsync(
        widgets,
        "CREATE TABLE known (id uuid PRIMARY KEY); " +
        "ALTER TABLE widget ADD FOREIGN KEY (message_id) REFERENCES known DEFERRABLE INITIALLY DEFERRED");

    public Task<int> CountPreparedAsync() => ScalarAsync(server, $"SELECT count(*)::int FROM pg_prepared_xacts WHERE starts_with(database, '{name}')");

    /// <summary>Ends what is left prepared in the widgets' database, which could not be dropped with it.</summary>
    public async Task RollBackPreparedAsync()
    {
        await using var source = SourceOf(Widgets);
        await using var read = source.CreateCommand($"SELECT gid FROM pg_prepared_xacts WHERE database = current_database()");
        await using var reader = await read.ExecuteReaderAsync();
        while (await reader.ReadAsync())
            await ExecuteAsync(Widgets, $"ROLLBACK PREPARED {Literal(reader.GetString(0))}");
    }

    /// <summary>A text as SQL.</summary>
    public static string Literal(string text) => $"'{text.Replace("'", "''", StringComparison.Ordinal)}'";

    public static async Task ExecuteAsync(string connectionString, string statement)
    {
        await using var source = SourceOf(connectionString);
        await ExecuteAsync(source, statement);
    }

    public static async Task<int> ScalarAsync(string connectionString, string query)
    {
        await using var source = SourceOf(connectionString);
        return await ScalarAsync(source, query);
    }

    /// <summary>How many sessions of a database wait for another one's transaction to end.</summary>
    public static Task<int> CountWaitingForATransactionAsync(string connectionString) => ScalarAsync(
        connectionString, "SELECT count(*)::int FROM pg_stat_activity WHERE datname = current_database() AND wait_event = 'transactionid'");

    public async ValueTask DisposeAsync()
    {
        await widgets.DisposeAsync();
        await Task.WhenAll(Names.Select(
            database => spares?.GiveBackAsync(database) ?? ExecuteAsync(server, $"DROP DATABASE {database} WITH (FORCE)")));
    }

    private static async Task ExecuteAsync(NpgsqlDataSource source, string statement)
    {
        await using var command = source.CreateCommand(statement);
        command.CommandTimeout = Patience;
        await command.ExecuteNonQueryAsync();
    }

    private static async Task<int> ScalarAsync(NpgsqlDataSource source, string query)
    {
        await using var command = source.CreateCommand(query);
        command.CommandTimeout = Patience;
        return (int)(await command.ExecuteScalarAsync())!;
    }

    private static NpgsqlDataSource SourceOf(string connectionString) =>
        NpgsqlDataSource.Create(new NpgsqlConnectionStringBuilder(connectionString) { Pooling = false, Enlist = false });

    private string ConnectionTo(string database) => new NpgsqlConnectionStringBuilder(server) { Database = database }.ConnectionString;
}
