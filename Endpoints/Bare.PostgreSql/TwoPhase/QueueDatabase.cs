using Npgsql;

namespace Kit.Endpoints.Bare.PostgreSql.TwoPhase;

/// <summary>Identifies the queue's database, which holds the decisions, independently of its name and address.</summary>
/// <param name="SystemIdentifier">The cluster's identifier, from initdb.</param>
/// <param name="DatabaseOid">The database's oid in the cluster.</param>
internal readonly record struct QueueDatabase(ulong SystemIdentifier, uint DatabaseOid)
{
    /// <summary>The beginning of an error, which PostgreSQL quotes in every language of its messages.</summary>
    private const string Elsewhere = "kit: another database, oid";

    /// <summary>The prefix of all its branches' ids.</summary>
    public string Prefix => $"kit/{SystemIdentifier}/{DatabaseOid}/";

    /// <summary>A statement that fails in every other database, with <see cref="IsElsewhere"/>.</summary>
    public NpgsqlBatchCommand Require() => new(
        $"""
        SELECT CASE WHEN system_identifier = $1 AND oid::bigint = $2 THEN 1 ELSE ('{Elsewhere} ' || oid)::int END
        FROM pg_control_system(), pg_database WHERE datname = current_database()
        """)
    {
        Parameters =
        {
            new NpgsqlParameter<long> { TypedValue = unchecked((long)SystemIdentifier) },
            new NpgsqlParameter<long> { TypedValue = DatabaseOid },
        },
    };

    /// <summary>Whether <see cref="Require"/> failed because it ran in another database.</summary>
    public static bool IsElsewhere(PostgresException failure) => failure.MessageText.Contains(Elsewhere, StringComparison.Ordinal);

    /// <exception cref="NpgsqlException">The server cannot be reached.</exception>
    public static async Task<QueueDatabase> ReadAsync(NpgsqlDataSource source, CancellationToken cancellationToken)
    {
        await using var command = source.CreateCommand(
            """
            SELECT (SELECT system_identifier FROM pg_control_system()),
                   (SELECT oid FROM pg_database WHERE datname = current_database())
            """);
        await using var reader = await command.ExecuteReaderAsync(cancellationToken);
        await reader.ReadAsync(cancellationToken);
        return new QueueDatabase(unchecked((ulong)reader.GetInt64(0)), reader.GetFieldValue<uint>(1));
    }
}
