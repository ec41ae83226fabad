using Microsoft.Extensions.Logging;
using Npgsql;

namespace Kit.Endpoints.Bare.PostgreSql.TwoPhase;

/// <summary>
/// The databases in which an endpoint was started with several participants, as its queue's database remembers them. Branches can be prepared in one that it
/// does not have any more, and nobody else would say so.
/// </summary>
/// <param name="endpoint">The endpoint's name.</param>
/// <param name="queues">The queue's database.</param>
/// <param name="places">The databases whose branches this process ends: see <see cref="ServerPair.Place"/>.</param>
/// <param name="log">Logs those that it does not have any more.</param>
internal sealed partial class RemovedParticipants(string endpoint, NpgsqlDataSource queues, IReadOnlyCollection<string> places, ILogger log)
{
    private const string Table = "kit_participant";

    private const string Create =
        $"""
        SELECT pg_advisory_xact_lock(hashtext('kit queue'));
        CREATE TABLE IF NOT EXISTS {Table} (
            endpoint text, server bigint, database bigint, name text NOT NULL, address text NOT NULL, PRIMARY KEY (endpoint, server, database));
        """;

    /// <summary>Those that the last look has found; <see langword="null"/> if none is missing.</summary>
    public string? Found { get; private set; }

    /// <summary>Ensures that the table exists.</summary>
    /// <returns>The table, with its schema.</returns>
    /// <exception cref="InvalidOperationException">The role lacks a right. The message says what to do.</exception>
    /// <exception cref="NpgsqlException">The database cannot be reached.</exception>
    public static Task<string> EnsureAsync(string endpoint, NpgsqlDataSource queues, CancellationToken cancellationToken) =>
        new OwnTable(Table, Create, ["database", "endpoint", "server"], ["SELECT", "INSERT", "UPDATE"]).EnsureAsync(endpoint, queues, cancellationToken);

    /// <summary>Remembers the participants, before the first of them has a branch, and when nothing refuses them any more.</summary>
    /// <inheritdoc cref="EnsureAsync" path="/exception"/>
    public static async Task RememberAsync(
        string endpoint, NpgsqlDataSource queues, IEnumerable<ServerPair> pairs, CancellationToken cancellationToken)
    {
        var table = await EnsureAsync(endpoint, queues, cancellationToken);
        await using var batch = queues.CreateBatch();
        foreach (var pair in pairs)
        {
            var settings = pair.Participant.Database.Settings;
            batch.BatchCommands.Add(PostgreSqlStatement.Of(
                $"""
                INSERT INTO {table} (endpoint, server, database, name, address) VALUES ($1, $2, $3, $4, $5)
                ON CONFLICT (endpoint, server, database) DO UPDATE SET name = excluded.name, address = excluded.address
                """,
                endpoint, pair.BranchesOn, pair.BranchesIn, pair.Participant.Name,
                $"{settings.Host}:{settings.Port}, database {settings.Database ?? settings.Username}"));
        }

        await batch.ExecuteNonQueryAsync(cancellationToken);
    }

    /// <summary>Looks again, and logs what has begun to be missing.</summary>
    /// <exception cref="NpgsqlException">The database cannot be reached.</exception>
    public async Task LookAsync(CancellationToken cancellationToken)
    {
        var found = await FindAsync(cancellationToken);
        if (found is not null && found != Found)
            LogRemoved(found);
        Found = found;
    }

    private async Task<string?> FindAsync(CancellationToken cancellationToken)
    {
        await using var find = queues.CreateCommand($"SELECT has_table_privilege(to_regclass('{Table}'), 'SELECT') IS TRUE");
        if (await find.ExecuteScalarAsync(cancellationToken) is false)
            return null;

        await using var read = queues.CreateCommand(
            $"SELECT name, address, server, database FROM {Table} WHERE endpoint = $1 AND concat(server, '/', database) <> ALL ($2) ORDER BY name, address");
        read.Parameters.Add(new NpgsqlParameter<string> { TypedValue = endpoint });
        read.Parameters.Add(new NpgsqlParameter<string[]> { TypedValue = [.. places] });
        await using var row = await read.ExecuteReaderAsync(cancellationToken);
        var removed = new List<string>();
        while (await row.ReadAsync(cancellationToken))
            removed.Add(Describe(row.GetString(0), row.GetString(1), row.GetInt64(2), row.GetInt64(3)));

        return removed.Count == 0 ? null : string.Join(" ", removed);
    }

    private string Describe(string name, string address, long server, long database) =>
        $"Endpoint '{endpoint}' was started with {Participant.TitleOf(name)} at {address}, which this process does not have: it ends no branch there. " +
        "If no other process has it, configure it again until 'branches' shows none of this queue there. Then run " +
        $"UPDATE {WorkerRows.Table} SET participants = array_remove(participants, '{server}/{database}') " +
        $"WHERE '{server}/{database}' = ANY (participants); " +
        $"DELETE FROM {Table} WHERE endpoint = {PostgreSqlStatement.Literal(endpoint)} AND server = {server} AND database = {database}.";

    [LoggerMessage(Level = LogLevel.Error, Message = "{Removed}")]
    private partial void LogRemoved(string removed);
}
