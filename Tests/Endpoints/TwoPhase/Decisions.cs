using Npgsql;

namespace Kit.Tests.TwoPhase;

/// <summary>Transactions of a queue's database that receive nothing, so that branches can be named after them.</summary>
internal static class Decisions
{
    /// <param name="queues">The queue's database.</param>
    /// <param name="ending"><c>COMMIT</c> or <c>ROLLBACK</c>.</param>
    /// <returns>The id of a transaction that ended so.</returns>
    public static async Task<ulong> DecideAsync(this NpgsqlDataSource queues, string ending)
    {
        await using var connection = await queues.OpenConnectionAsync();
        await using var transaction = await connection.BeginTransactionAsync();
        var id = await connection.TransactionIdAsync();
        await (ending == "COMMIT" ? transaction.CommitAsync() : transaction.RollbackAsync());
        return id;
    }

    public static async Task<ulong> TransactionIdAsync(this NpgsqlConnection connection)
    {
        await using var command = new NpgsqlCommand("SELECT pg_current_xact_id()", connection);
        return (ulong)(await command.ExecuteScalarAsync())!;
    }
}
