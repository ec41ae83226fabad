using Npgsql;

namespace Kit.Endpoints.Bare.Outbox;

/// <summary>
/// The sends of one message that still wait, claimed in a transaction. Until it ends, no other dispatcher sends them.
/// </summary>
internal sealed class OutboxClaim(
    NpgsqlConnection connection, OutboxStatements statements, Guid messageId, IReadOnlyList<OutboxRecord> records) : IAsyncDisposable
{
    /// <summary>The sends, in the handler's order.</summary>
    public IReadOnlyList<OutboxRecord> Records => records;

    /// <summary>Records that these are dispatched, and ends the claim. After a crash before that, they are sent again, with the same ids.</summary>
    /// <exception cref="NpgsqlException">The database cannot be reached.</exception>
    public async Task ForgetAsync(IReadOnlyCollection<OutboxRecord> dispatched)
    {
        await using var batch = new NpgsqlBatch(connection);
        if (dispatched.Count > 0)
            batch.BatchCommands.Add(statements.Forgetting(messageId, dispatched));

        batch.BatchCommands.Add(new NpgsqlBatchCommand("COMMIT"));
        await batch.ExecuteNonQueryAsync(CancellationToken.None);
    }

    /// <summary>Ends the claim: closing the connection rolls back.</summary>
    public ValueTask DisposeAsync() => connection.DisposeAsync();
}
