using Npgsql;

namespace Kit.Endpoints.Bare.PostgreSql.TwoPhase;

/// <summary>Who ends a prepared transaction, as one queue sees it.</summary>
internal enum SlotKin
{
    /// <summary>A branch of this queue: its recovery ends it.</summary>
    Own,

    /// <summary>A branch of another queue of the kit, or of another participant, whose recovery ends it.</summary>
    OfAnotherQueue,

    /// <summary>A branch whose queue's database was dropped, and the decision with it.</summary>
    Lost,

    /// <summary>Another application's, or a branch of a queue that seems to have no endpoint any more.</summary>
    Foreign,
}

/// <summary>A prepared transaction of the server, in any database.</summary>
/// <param name="GlobalId">Its global id.</param>
/// <param name="Owner">The role that prepared it. Only that role or a superuser may end it.</param>
/// <param name="Database">The database where it must be ended.</param>
/// <param name="DatabaseOid">Its oid.</param>
/// <param name="IsHere">Whether that is the handlers' database.</param>
/// <param name="PreparedUtc">When it was prepared.</param>
/// <param name="Age">How long ago that was, by the server's clock.</param>
/// <param name="IsWaiting">Whether the session that prepares it still waits for the server's standbys. Until then no other can end it.</param>
/// <param name="HasQueueDatabase">For a branch of the kit: whether its queue's database, which holds the decision, still exists.</param>
internal sealed record SlotHolder(
    string GlobalId, string Owner, string Database, long DatabaseOid, bool IsHere, DateTime PreparedUtc, TimeSpan Age, bool IsWaiting,
    bool HasQueueDatabase)
{
    /// <summary>Whether its owner most likely ends it in a moment. A negative age is old: the server's clock has stepped back since.</summary>
    public bool IsYoungerThan(TimeSpan age) => Age >= TimeSpan.Zero && Age < age;

    public static async Task<IReadOnlyList<SlotHolder>> ReadAllAsync(NpgsqlConnection connection, CancellationToken cancellationToken)
    {
        await using var command = new NpgsqlCommand(
            """
            SELECT gid, coalesce(owner::text, 'a role that was dropped'), database, (SELECT oid::bigint FROM pg_database WHERE datname = database),
                   database = current_database(), prepared, clock_timestamp() - prepared,
                   EXISTS (SELECT FROM pg_stat_activity WHERE state = 'active' AND query = 'PREPARE TRANSACTION ' || quote_literal(gid)),
                   starts_with(gid, 'kit/') AND EXISTS (SELECT FROM pg_database WHERE oid::text = split_part(gid, '/', 3))
            FROM pg_prepared_xacts ORDER BY prepared
            """,
            connection);
        await using var reader = await command.ExecuteReaderAsync(cancellationToken);
        var holders = new List<SlotHolder>();
        while (await reader.ReadAsync(cancellationToken))
        {
            holders.Add(new SlotHolder(
                reader.GetString(0), reader.GetString(1), reader.GetString(2), reader.GetInt64(3), reader.GetBoolean(4),
                reader.GetDateTime(5), reader.GetTimeSpan(6), reader.GetBoolean(7), reader.GetBoolean(8)));
        }

        return holders;
    }
}
