using Npgsql;

namespace Kit.Runner.Rounds;

/// <summary>A prepared transaction that stays in a database: until it ends, VACUUM cannot remove rows that others delete there.</summary>
internal sealed class HeldTransaction : IAsyncDisposable
{
    // Unpooled: no session is open while the transaction is held.
    private readonly string database;
    private readonly string name = $"kit_condition_{Guid.NewGuid():N}";
    private bool isEnded;

    /// <summary>True if it lasted until it was ended here; <see langword="false"/> before that, and if another session ended it.</summary>
    public bool HasLasted { get; private set; }

    private HeldTransaction(string database) => this.database = new NpgsqlConnectionStringBuilder(database) { Pooling = false }.ConnectionString;

    /// <summary>Prepares one, which is rolled back when this is disposed.</summary>
    /// <exception cref="NpgsqlException">The server cannot be reached, allows no prepared transaction or has no slot left.</exception>
    public static async Task<HeldTransaction> HoldAsync(string database, CancellationToken cancellationToken)
    {
        var held = new HeldTransaction(database);
        // Only a transaction with an id keeps the dead rows of others.
        await held.ExecuteAsync(["BEGIN", "SELECT pg_current_xact_id()", $"PREPARE TRANSACTION '{held.name}'"], cancellationToken);
        return held;
    }

    /// <summary>Ends it. <see cref="HasLasted"/> says whether that succeeded.</summary>
    public async ValueTask DisposeAsync()
    {
        if (isEnded)
            return;
        isEnded = true;
        try
        {
            await ExecuteAsync([$"ROLLBACK PREPARED '{name}'"], CancellationToken.None);
            HasLasted = true;
        }
        catch (NpgsqlException)
        {
            // The drain's own failure says more; a leftover is rolled back before its database is dropped.
        }
    }

    private async Task ExecuteAsync(IEnumerable<string> statements, CancellationToken cancellationToken)
    {
        await using var connection = new NpgsqlConnection(database);
        await connection.OpenAsync(cancellationToken);
        foreach (var statement in statements)
        {
            await using var command = new NpgsqlCommand(statement, connection);
            await command.ExecuteNonQueryAsync(cancellationToken);
        }
    }
}
