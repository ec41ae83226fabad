using Npgsql;

namespace Kit.Endpoints.Bare.Outbox;

/// <summary>
/// What one message sent and what still waits of it, claimed in a transaction: until that ends, nobody else dispatches it.
/// </summary>
internal sealed class OutboxClaim(
    NpgsqlConnection connection, OutboxStatements statements, Guid messageId, IReadOnlyList<OutboxRecord> records) : IAsyncDisposable
{
    /// <summary>In the order in which the handler sent them.</summary>
    public IReadOnlyList<OutboxRecord> Records => records;

    /// <summary>Says that these are dispatched, and ends the claim. A crash before that dispatches them again, with the same ids.</summary>
    /// <exception cref="NpgsqlException">The database cannot be reached.</exception>
    public async Task ForgetAsync(IReadOnlyCollection<OutboxRecord> dispatched)
    {
        await using var batch = new NpgsqlBatch(connection);
        if (dispatched.Count > 0)
            batch.BatchCommands.Add(statements.Forgetting(messageId, dispatched));

        batch.BatchCommands.Add(new NpgsqlBatchCommand("COMMIT"));
        await batch.ExecuteNonQueryAsync(CancellationToken.None);
    }

    /// <summary>Ends the claim: closing the connection rolls back what is not committed.</summary>
    public ValueTask DisposeAsync() => connection.DisposeAsync();
}
