using System.Data.Common;
using Npgsql;

namespace Kit.Endpoints.Bare.PostgreSql.Batches;

/// <summary>One message's work in the transaction of its batch: all that follows the message's savepoint.</summary>
/// <param name="whole">The work of the whole batch. It lends the connection and its transaction.</param>
internal sealed class SavepointWork(IWork whole) : SoleResource, IWork
{
    private const string Savepoint = "kit_message";

    private readonly LentOnce<Lending> lent = new(cancellationToken => LendAsync(whole, cancellationToken));
    private readonly List<OutgoingMessage> sends = [];

    public IReadOnlyCollection<OutgoingMessage> Sends => sends;

    public Exception? Refusal => lent.Refusal;

    public async ValueTask<DbConnection> GetConnectionAsync(CancellationToken cancellationToken) => (await lent.GetAsync(cancellationToken)).Connection;

    public async ValueTask<DbTransaction?> GetTransactionAsync(CancellationToken cancellationToken) => (await lent.GetAsync(cancellationToken)).Transaction;

    public Task SendAsync(OutgoingMessage message, CancellationToken cancellationToken)
    {
        sends.Add(message);
        return Task.CompletedTask;
    }

    /// <summary>Rolls the message's work back, and leaves that of its neighbours.</summary>
    /// <returns>Whether the handler had asked for its connection.</returns>
    /// <exception cref="PostgresException">The handler ended the transaction.</exception>
    /// <exception cref="InvalidOperationException">The connection is closed.</exception>
    public async Task<bool> RollBackAsync()
    {
        if (await lent.CloseAsync() is not { } used)
            return false;

        await PostgreSqlStatement.ExecuteAllAsync(used.Connection, $"ROLLBACK TO SAVEPOINT {Savepoint}", $"RELEASE SAVEPOINT {Savepoint}");
        return true;
    }

    /// <summary>
    /// Releases the savepoint. Unlike COMMIT, PostgreSQL reports an error for it if the handler left the transaction failed, or ended it.
    /// </summary>
    protected override async Task<Exception?> CommitAsync()
    {
        try
        {
            if (await lent.CloseAsync() is not { } used)
                return null;

            LentWork.RequireOpen(used.Connection);
            await PostgreSqlStatement.ExecuteAllAsync(used.Connection, $"RELEASE SAVEPOINT {Savepoint}");
            return null;
        }
        catch (Exception failure)
        {
            return failure;
        }
    }

    private static async ValueTask<Lending> LendAsync(IWork whole, CancellationToken cancellationToken)
    {
        var connection = (NpgsqlConnection)await whole.GetConnectionAsync(cancellationToken);
        var transaction = (NpgsqlTransaction)(await whole.GetTransactionAsync(cancellationToken))!;
        // The driver sends it together with the handler's first statement.
        await transaction.SaveAsync(Savepoint, cancellationToken);
        return new Lending(connection, transaction);
    }

    private sealed record Lending(NpgsqlConnection Connection, NpgsqlTransaction Transaction);
}
