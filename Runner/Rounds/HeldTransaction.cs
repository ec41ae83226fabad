using Npgsql;

namespace Kit.Runner.Rounds;

/// <summary>A prepared transaction that stays in a database: until it ends, the rows that others delete there cannot be removed.</summary>
internal sealed class HeldTransaction : IAsyncDisposable
{
    // Unpooled: no session of it is open while it is held.
    private readonly string database;
    private readonly string name = $"kit_condition_{Guid.NewGuid():N}";
    private bool isEnded;

    /// <summary>Whether it was there until it was ended here; <see langword="false"/> before that, and where somebody else ended it.</summary>
    public bool HasLasted { get; private set; }

    private HeldTransaction(string database) => this.database = new NpgsqlConnectionStringBuilder(database) { Pooling = false }.ConnectionString;

    /// <summary>Prepares one, to be rolled back when this is disposed of.</summary>
    /// <param name="database">Connection string.</param>
    /// <param name="cancellationToken">Ends the attempt.</param>
    /// <exception cref="NpgsqlException">The server cannot be reached, allows no prepared transaction or has no slot left.</exception>
    public static async Task<HeldTransaction> HoldAsync(string database, CancellationToken cancellationToken)
    {
        var held = new HeldTransaction(database);
        // Only a transaction with an id holds the dead rows of others back.
        await held.ExecuteAsync(["BEGIN", "SELECT pg_current_xact_id()", $"PREPARE TRANSACTION '{held.name}'"], cancellationToken);
        return held;
    }

    /// <summary>Ends it. Whether that succeeded, <see cref="HasLasted"/> says.</summary>
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
            // Why a drain failed says more; what is left prepared goes with its database.
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
