using Npgsql;

namespace Kit.Endpoints.Bare.PostgreSql.TwoPhase;

/// <summary>
/// The identity of a queue's database as its branches on another server name it: one row, made once, which a promoted standby and an upgraded server keep.
/// A copy of the database has it, too, and would rule on the branches of its origin: so the branches' database remembers which server has the identity.
/// </summary>
internal static class QueueIdentity
{
    private const string Table = "kit_queue_identity";
    private const string Servers = "kit_queue_server";

    private const string Create =
        $"""
        SELECT pg_advisory_xact_lock(hashtext('kit queue'));
        CREATE TABLE IF NOT EXISTS {Table} (is_one boolean PRIMARY KEY DEFAULT true CHECK (is_one), id uuid NOT NULL);
        """;

    private const string CreateServers =
        $"""
        SELECT pg_advisory_xact_lock(hashtext('kit queue'));
        CREATE TABLE IF NOT EXISTS {Servers} (
            queue uuid PRIMARY KEY,
            system_identifier bigint NOT NULL,
            database oid NOT NULL,
            timeline integer NOT NULL);
        """;

    private const string Where =
        """
        SELECT system_identifier, (SELECT oid FROM pg_database WHERE datname = current_database()),
               ('x' || left(pg_walfile_name(pg_current_wal_lsn()), 8))::bit(32)::int
        FROM pg_control_system()
        """;

    /// <summary>Reads the identity, and makes it if there is none.</summary>
    /// <param name="endpoint">The endpoint's name, for the refusal.</param>
    /// <param name="queues">The queue's database.</param>
    /// <param name="data">The handlers' database, on another server.</param>
    /// <param name="cancellationToken">Cancels it.</param>
    /// <exception cref="InvalidOperationException">The queue's database is a copy, or a role lacks a right. The message says what to do.</exception>
    /// <exception cref="NpgsqlException">A database cannot be reached.</exception>
    public static async Task<Guid> ReadAsync(string endpoint, NpgsqlDataSource queues, NpgsqlDataSource data, CancellationToken cancellationToken)
    {
        var table = await new OwnTable(Table, Create, ["is_one"], ["SELECT", "INSERT"]).EnsureAsync(endpoint, queues, cancellationToken);
        await using (var insert = queues.CreateCommand($"INSERT INTO {table} (id) VALUES (gen_random_uuid()) ON CONFLICT DO NOTHING"))
            await insert.ExecuteNonQueryAsync(cancellationToken);
        await using var read = queues.CreateCommand($"SELECT id FROM {table}");
        var identity = (Guid)(await read.ExecuteScalarAsync(cancellationToken))!;
        await RequireOriginAsync(endpoint, identity, queues, data, cancellationToken);
        return identity;
    }

    private static async Task RequireOriginAsync(
        string endpoint, Guid identity, NpgsqlDataSource queues, NpgsqlDataSource data, CancellationToken cancellationToken)
    {
        var servers = await new OwnTable(Servers, CreateServers, ["queue"], ["SELECT", "INSERT", "UPDATE"]).EnsureAsync(endpoint, data, cancellationToken);
        await using var where = queues.CreateCommand(Where);
        await using var found = await where.ExecuteReaderAsync(cancellationToken);
        await found.ReadAsync(cancellationToken);
        // A promotion raises the timeline. The server with the lower one was replaced.
        await using var remember = data.CreateCommand(
            $"""
            INSERT INTO {servers} AS known (queue, system_identifier, database, timeline) VALUES ($1, $2, $3, $4)
            ON CONFLICT (queue) DO UPDATE SET timeline = excluded.timeline
            WHERE known.system_identifier = excluded.system_identifier AND known.database = excluded.database AND known.timeline <= excluded.timeline
            RETURNING queue
            """);
        remember.Parameters.Add(new NpgsqlParameter<Guid> { TypedValue = identity });
        remember.Parameters.Add(new NpgsqlParameter<long> { TypedValue = found.GetInt64(0) });
        remember.Parameters.Add(new NpgsqlParameter<uint> { TypedValue = found.GetFieldValue<uint>(1), NpgsqlDbType = NpgsqlTypes.NpgsqlDbType.Oid });
        remember.Parameters.Add(new NpgsqlParameter<int> { TypedValue = found.GetInt32(2) });
        if (await remember.ExecuteScalarAsync(cancellationToken) is not null)
            return;

        throw new InvalidOperationException(
            $"Endpoint '{endpoint}' cannot start in full-dtc: its queue's database is not the one that the table {servers} in its handlers' database " +
            $"knows as {identity}. It is a copy (a restored backup, a template, a server that was replaced), or pg_upgrade gave its server another " +
            "identifier. A copy would end the branches of its origin, and handle its messages again. If the origin is gone for good, stop all " +
            "endpoints, see that 'branches' shows none of its queue, and run in the handlers' database: " +
            $"DELETE FROM {servers} WHERE queue = '{identity}'. If both go on, give the copy an identity of its own, in its database: " +
            $"UPDATE {Table} SET id = gen_random_uuid()");
    }
}
