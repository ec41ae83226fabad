using Npgsql;

namespace Kit.Runner.Rounds;

/// <summary>A prepared transaction that stays in a database: until it ends, the rows that others delete there cannot be removed.</summary>
internal sealed class HeldTransaction : IAsyncDisposable
{
    private readonly NpgsqlDataSource source;
    private readonly string name = $"kit_condition_{Guid.NewGuid():N}";

    private HeldTransaction(string database) => source = NpgsqlDataSource.Create(database);

    /// <param name="database">Connection string.</param>
    /// <param name="cancellationToken">Ends the attempt.</param>
    /// <exception cref="PostgresException">The server allows no prepared transaction, or none more.</exception>
    public static async Task<HeldTransaction> HoldAsync(string database, CancellationToken cancellationToken)
    {
        var held = new HeldTransaction(database);
        try
        {
            await using var connection = await held.source.OpenConnectionAsync(cancellationToken);
            // It counts for others from the moment on in which it has an id.
            foreach (var statement in new[] { "BEGIN", "SELECT pg_current_xact_id()", $"PREPARE TRANSACTION '{held.name}'" })
            {
                await using var command = new NpgsqlCommand(statement, connection);
                await command.ExecuteNonQueryAsync(cancellationToken);
            }

            return held;
        }
        catch
        {
            await held.source.DisposeAsync();
            throw;
        }
    }

    public async ValueTask DisposeAsync()
    {
        await using (source)
        {
            await using var command = source.CreateCommand($"ROLLBACK PREPARED '{name}'");
            await command.ExecuteNonQueryAsync();
        }
    }
}
