using Npgsql;

namespace Kit.Endpoints.Bare.PostgreSql.TwoPhase;

/// <summary>A prepared transaction of the server, in whichever database.</summary>
/// <param name="GlobalId">Its name.</param>
/// <param name="Owner">The role that prepared it: no other may end it, but a superuser.</param>
/// <param name="Database">Where it must be ended.</param>
/// <param name="IsHere">Whether that is the handlers' database.</param>
/// <param name="PreparedUtc">When it was prepared.</param>
/// <param name="Age">How long ago that is, by the server's clock.</param>
/// <param name="HasQueueDatabase">Of a branch of the kit: whether the database still exists that its name says holds the decision.</param>
internal sealed record SlotHolder(string GlobalId, string Owner, string Database, bool IsHere, DateTime PreparedUtc, TimeSpan Age, bool HasQueueDatabase)
{
    public static async Task<IReadOnlyList<SlotHolder>> ReadAllAsync(NpgsqlConnection connection, CancellationToken cancellationToken)
    {
        await using var command = new NpgsqlCommand(
            """
            SELECT gid, coalesce(owner::text, 'a role that was dropped'), database, database = current_database(), prepared, clock_timestamp() - prepared,
                   starts_with(gid, 'kit/') AND EXISTS (SELECT FROM pg_database WHERE oid::text = split_part(gid, '/', 3))
            FROM pg_prepared_xacts ORDER BY prepared
            """,
            connection);
        await using var reader = await command.ExecuteReaderAsync(cancellationToken);
        var holders = new List<SlotHolder>();
        while (await reader.ReadAsync(cancellationToken))
        {
            holders.Add(new SlotHolder(
                reader.GetString(0), reader.GetString(1), reader.GetString(2), reader.GetBoolean(3),
                reader.GetDateTime(4), reader.GetTimeSpan(5), reader.GetBoolean(6)));
        }

        return holders;
    }
}
