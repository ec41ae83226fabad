using Npgsql;

namespace Kit.Endpoints.Bare.Outbox;

/// <summary>
/// The sends of one message that still wait, claimed in a transaction. Until it ends, no other dispatcher sends them.
/// </summary>
/// <param name="connection">The connection of the transaction.</param>
/// <param name="statements">The outbox's statements.</param>
/// <param name="messageId">The message.</param>
/// <param name="records">Its sends.</param>
/// <param name="later">Remembers what is dispatched and cannot be recorded as such now: the next search would send it again.</param>
internal sealed class OutboxClaim(
    NpgsqlConnection connection, OutboxStatements statements, Guid messageId, IReadOnlyList<OutboxRecord> records,
    Action<Guid, IReadOnlyCollection<OutboxRecord>> later) : IAsyncDisposable
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
        try
        {
            await batch.ExecuteNonQueryAsync(CancellationToken.None);
        }
        catch (NpgsqlException) when (dispatched.Count > 0)
        {
            later(messageId, dispatched);
            throw;
        }
    }

    /// <summary>Ends the claim: closing the connection rolls back.</summary>
    public ValueTask DisposeAsync() => connection.DisposeAsync();
}
