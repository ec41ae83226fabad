using Kit.Modes;
using Npgsql;

namespace Kit.Tests;

/// <summary>A database for queues and one for widgets, new for each test, on the tests' server.</summary>
internal sealed class TestDatabases : ITestWidgets
{
    private readonly string server;
    private readonly string name = $"test_{Guid.NewGuid():N}";

    private TestDatabases(string server) => this.server = server;

    public string Queue => ConnectionTo(name + "_queue");

    public string Widgets => ConnectionTo(name + "_widgets");

    /// <summary>The database that a queue is in: its own, or the widgets' in a mode that needs one database.</summary>
    public string QueueOf(TransactionMode mode) => mode.NeedsOneDatabase ? Widgets : Queue;

    /// <param name="server">Connection string; the tests' own server when not given.</param>
    public static async Task<TestDatabases> CreateAsync(string? server = null)
    {
        var databases = new TestDatabases(server ?? (await PostgreSqlServer.GetAsync()).ConnectionString);
        await ExecuteAsync(databases.server, $"CREATE DATABASE {databases.name}_queue");
        await ExecuteAsync(databases.server, $"CREATE DATABASE {databases.name}_widgets");
        await ExecuteAsync(databases.Widgets, "CREATE TABLE widget (id bigint PRIMARY KEY, message_id uuid NOT NULL)");
        return databases;
    }

    public Task<int> CountRowsAsync() => ScalarAsync(Widgets, "SELECT count(*)::int FROM widget");

    public Task<int> CountRowsAsync(Guid message) => ScalarAsync(Widgets, $"SELECT count(*)::int FROM widget WHERE message_id = '{message}'");

    public async Task<IReadOnlyDictionary<Guid, int>> ReadRowsByMessageAsync()
    {
        await using var source = SourceOf(Widgets);
        await using var command = source.CreateCommand("SELECT message_id, count(*)::int FROM widget GROUP BY message_id");
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
            $"SELECT gid || ' ' || pg_xact_status(split_part(gid, '/', 4)::xid8) FROM pg_prepared_xacts WHERE database = '{name}_widgets' AND starts_with(gid, 'kit/')");
        await using var reader = await command.ExecuteReaderAsync();
        var decisions = new List<string>();
        while (await reader.ReadAsync())
            decisions.Add(reader.GetString(0));

        return decisions;
    }

    public Task<int> CountPreparedAsync() => ScalarAsync(server, $"SELECT count(*)::int FROM pg_prepared_xacts WHERE starts_with(database, '{name}')");

    /// <summary>Ends what is left prepared in the widgets' database, which could not be dropped with it.</summary>
    public async Task RollBackPreparedAsync()
    {
        await using var source = SourceOf(Widgets);
        await using var read = source.CreateCommand($"SELECT gid FROM pg_prepared_xacts WHERE database = current_database()");
        await using var reader = await read.ExecuteReaderAsync();
        while (await reader.ReadAsync())
            await ExecuteAsync(Widgets, $"ROLLBACK PREPARED '{reader.GetString(0)}'");
    }

    public static async Task ExecuteAsync(string connectionString, string statement)
    {
        await using var source = SourceOf(connectionString);
        await using var command = source.CreateCommand(statement);
        await command.ExecuteNonQueryAsync();
    }

    public static async Task<int> ScalarAsync(string connectionString, string query)
    {
        await using var source = SourceOf(connectionString);
        await using var command = source.CreateCommand(query);
        return (int)(await command.ExecuteScalarAsync())!;
    }

    public async ValueTask DisposeAsync()
    {
        await ExecuteAsync(server, $"DROP DATABASE {name}_queue WITH (FORCE)");
        await ExecuteAsync(server, $"DROP DATABASE {name}_widgets WITH (FORCE)");
    }

    private static NpgsqlDataSource SourceOf(string connectionString) =>
        NpgsqlDataSource.Create(new NpgsqlConnectionStringBuilder(connectionString) { Pooling = false, Enlist = false });

    private string ConnectionTo(string database) => new NpgsqlConnectionStringBuilder(server) { Database = database }.ConnectionString;
}
