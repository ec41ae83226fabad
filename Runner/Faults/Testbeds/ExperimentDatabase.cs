using Kit.Runner.Results;
using Kit.Runner.Results.Accounts;
using Kit.Runner.Stage;
using Kit.Runner.Stage.Databases;
using Npgsql;

namespace Kit.Runner.Faults.Testbeds;

/// <summary>The widgets' database of an experiment: its rows name their attempt.</summary>
/// <param name="connectionString">Direct, not through a proxy.</param>
/// <param name="outbox">The table with the endpoint's outbox, and its database; <see langword="null"/>: it has none.</param>
/// <param name="databases">The names of the experiment's databases, in which transactions can be left prepared.</param>
/// <param name="apart">The databases on the queue's server; <see langword="null"/>: it is the same server.</param>
internal sealed class ExperimentDatabase(
    string connectionString, OutboxPlace? outbox, IReadOnlyList<string> databases, RoundDatabases? apart) : IAsyncDisposable
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

    private readonly NpgsqlDataSource? countedOutbox = outbox is null ? null : NpgsqlDataSource.Create(outbox.ConnectionString);

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

    /// <summary>The sends in an endpoint's outbox. The endpoint creates it when it starts.</summary>
    /// <exception cref="KitException">It is not there.</exception>
    public async Task<long> CountOutboxAsync(CancellationToken cancellationToken)
    {
        if (countedOutbox is null)
            return 0;

        await using var count = countedOutbox.CreateCommand($"SELECT count(*) FROM \"{outbox!.Table}\"");
        try
        {
            return (long)(await count.ExecuteScalarAsync(cancellationToken))!;
        }
        catch (PostgresException missing) when (missing.SqlState == PostgresErrorCodes.UndefinedTable)
        {
            throw new KitException(
                $"The endpoint has started, and its outbox '{outbox.Table}' is not in the database in which the kit counts its sends.",
                "This is a mistake in the kit: correct the table or the database that the endpoint's kind names.");
        }
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
        if (countedOutbox is not null)
            await countedOutbox.DisposeAsync();
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

/// <summary>The place of an endpoint's outbox.</summary>
/// <param name="ConnectionString">Of the database with the table.</param>
internal sealed record OutboxPlace(string Table, string ConnectionString);
