using Npgsql;

namespace Kit.Endpoints.Bare.PostgreSql.TwoPhase;

/// <summary>Identifies the queue's database, which holds the decisions, independently of its name and address.</summary>
/// <param name="SystemIdentifier">The cluster's identifier, from initdb.</param>
/// <param name="DatabaseOid">The database's oid in the cluster.</param>
internal readonly record struct QueueDatabase(ulong SystemIdentifier, uint DatabaseOid)
{
    /// <summary>The prefix of all its branches' ids.</summary>
    public string Prefix => $"kit/{SystemIdentifier}/{DatabaseOid}/";

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
