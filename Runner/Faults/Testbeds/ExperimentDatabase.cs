using Kit.Runner.Results.Accounts;
using Kit.Runner.Stage;
using Kit.Runner.Stage.Databases;
using Npgsql;

namespace Kit.Runner.Faults.Testbeds;

/// <summary>The widgets' database of an experiment: its rows name their attempt.</summary>
/// <param name="connectionString">Direct, not through a proxy.</param>
/// <param name="databases">The names of the experiment's databases, in which transactions can be left prepared.</param>
/// <param name="apart">The databases on the queue's server; <see langword="null"/>: it is the same server.</param>
internal sealed class ExperimentDatabase(string connectionString, IReadOnlyList<string> databases, RoundDatabases? apart) : IAsyncDisposable
{
    /// <summary>The widgets of an experiment name their attempt.</summary>
    private const string CreateColumn = "ALTER TABLE widget ADD attempt_id uuid NOT NULL;";

    private const int SeedRows = 50;

    /// <summary>Their messages are none of the experiment's, like those of a round's seeded rows.</summary>
    private static readonly string Seed =
        "INSERT INTO widget (id, message_id, attempt_id) VALUES " +
        string.Join(", ", Enumerable.Range(1, SeedRows).Select(row => $"({row}, '{KitDatabases.SeededId((uint)row)}', '{Guid.Empty}')"));

    /// <summary>Every row that is not seeded, with its message and its attempt.</summary>
    internal static readonly string ReadRows = $"SELECT id, message_id, attempt_id FROM widget WHERE message_id > '{KitDatabases.LastSeeded}'";

    /// <summary>Statements that add the column and the table of experiments to an empty database, and the rows if messages can ask for them.</summary>
    public static string Prepare(bool hasRows) => $"{CreateColumn}{Deadlock.CreateTable};{(hasRows ? Seed : "")}";

    private readonly NpgsqlDataSource widgets = NpgsqlDataSource.Create(EndpointConnections.ForRunner(connectionString));
    private readonly NpgsqlDataSource counted = NpgsqlDataSource.Create(EndpointConnections.ForManyUses(connectionString));

    private readonly WatchedServer? queues =
        apart is null ? null : new(NpgsqlDataSource.Create(EndpointConnections.ForRunner(apart.Queue)), apart.Names);
    private readonly NpgsqlDataSource? countedQueues =
        apart is null ? null : NpgsqlDataSource.Create(EndpointConnections.ForManyUses(apart.Queue));

    /// <summary>Watches the transactions that kills leave open in the kit's own two-phase commit.</summary>
    public WindowsWatch WatchWindows(string journal) => new(new(widgets, databases), queues, journal);

    /// <summary>Visible rows, and prepared transactions on all servers.</summary>
    public async Task<(long Rows, long Prepared)> CountAsync(CancellationToken cancellationToken)
    {
        var (rows, prepared) = await CountAsync(counted, "(SELECT count(*) FROM widget)", databases, cancellationToken);
        return (rows, prepared + (countedQueues is null
            ? 0
            : (await CountAsync(countedQueues, "0::bigint", queues!.Databases, cancellationToken)).Prepared));
    }

    /// <summary>The sends in an endpoint's outbox, which the endpoint creates when it starts.</summary>
    public async Task<long> CountOutboxAsync(string? name, CancellationToken cancellationToken)
    {
        if (name is null)
            return 0;

        var table = $"\"{name}\"";
        await using var isThere = counted.CreateCommand($"SELECT to_regclass('{table}') IS NOT NULL");
        if (await isThere.ExecuteScalarAsync(cancellationToken) is not true)
            return 0;

        await using var count = counted.CreateCommand($"SELECT count(*) FROM {table}");
        return (long)(await count.ExecuteScalarAsync(cancellationToken))!;
    }

    public Task<IReadOnlyList<WidgetRow>> ReadRowsAsync(CancellationToken cancellationToken) => ReadAsync(
        ReadRows, row => new WidgetRow(row.GetInt64(0), row.GetGuid(1), row.GetGuid(2)), cancellationToken);

    /// <summary>Executes what a fault needs.</summary>
    public async Task ExecuteAsync(string statements, CancellationToken cancellationToken)
    {
        await using var command = widgets.CreateCommand(statements);
        await command.ExecuteNonQueryAsync(cancellationToken);
    }

    /// <summary>Asks for one value.</summary>
    public async Task<T> AskAsync<T>(string query, CancellationToken cancellationToken)
    {
        await using var command = widgets.CreateCommand(query);
        return (T)(await command.ExecuteScalarAsync(cancellationToken))!;
    }

    public async ValueTask DisposeAsync()
    {
        await counted.DisposeAsync();
        if (queues is not null)
            await queues.Source.DisposeAsync();
        if (countedQueues is not null)
            await countedQueues.DisposeAsync();
        await widgets.DisposeAsync();
    }

    private static async Task<(long Rows, long Prepared)> CountAsync(
        NpgsqlDataSource server, string rows, IReadOnlyList<string> databases, CancellationToken cancellationToken)
    {
        await using var command = server.CreateCommand($"SELECT {rows}, (SELECT count(*) FROM pg_prepared_xacts WHERE database = ANY($1))");
        command.Parameters.Add(new NpgsqlParameter<string[]> { TypedValue = [.. databases] });
        await using var reader = await command.ExecuteReaderAsync(cancellationToken);
        await reader.ReadAsync(cancellationToken);
        return (reader.GetInt64(0), reader.GetInt64(1));
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
}
