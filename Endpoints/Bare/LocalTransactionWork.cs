using System.Data.Common;
using Kit.Modes;
using Npgsql;

namespace Kit.Endpoints.Bare;

/// <summary>
/// Lends a connection in a local transaction, which commits with the ambient one, and keeps sends until the handler has succeeded.
/// </summary>
internal sealed class LocalTransactionWork(NpgsqlDataSource data) : SoleResource, IWork, IAsyncDisposable
{
    private readonly LentConnection<NpgsqlConnection> lent = new(async cancellationToken =>
    {
        var connection = await data.OpenConnectionAsync(cancellationToken);
        // The driver gives the same transaction object to whoever has the physical connection next: it is not kept, and closing the
        // connection is what rolls back. The statement goes with the handler's first one.
        await connection.BeginTransactionAsync(TransactionMode.Isolation, cancellationToken);
        return connection;
    });

    private readonly List<OutgoingMessage> sends = [];

    public IReadOnlyCollection<OutgoingMessage> Sends => sends;

    public Exception? Refusal => lent.Refusal;

    public async ValueTask<DbConnection> GetConnectionAsync(CancellationToken cancellationToken) => await lent.GetAsync(cancellationToken);

    public Task SendAsync(OutgoingMessage message, CancellationToken cancellationToken)
    {
        sends.Add(message);
        return Task.CompletedTask;
    }

    /// <summary>Rolls back what has not committed.</summary>
    public ValueTask DisposeAsync() => lent.DisposeAsync();

    protected override async Task<Exception?> CommitAsync()
    {
        try
        {
            if (lent.Connection is not { } connection)
                return null;

            LentWork.RequireOpen(connection);
            // In a failed transaction, and outside of one, PostgreSQL answers COMMIT with no error. A savepoint is an error in both.
            await using var commit = new NpgsqlBatch(connection)
            {
                BatchCommands = { new NpgsqlBatchCommand("SAVEPOINT kit"), new NpgsqlBatchCommand("COMMIT") },
            };
            await commit.ExecuteNonQueryAsync();
            return null;
        }
        catch (Exception failure)
        {
            return failure;
        }
    }
}
