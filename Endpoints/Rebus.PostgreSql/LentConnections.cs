using System.Data;
using Npgsql;
using Rebus.PostgreSql;

namespace Kit.Endpoints.Rebus.PostgreSql;

/// <summary>Opens the transport's connections, and keeps the transaction of the one that receives a message, so that the handler can work in it.</summary>
/// <param name="ordinary">Rebus's own, for sends in an ambient transaction.</param>
/// <param name="connectionString">The database with queue and rows.</param>
/// <param name="isolation">The isolation level of the receive.</param>
internal sealed class LentConnections(PostgresConnectionHelper ordinary, string connectionString, IsolationLevel isolation) : IPostgresConnectionProvider
{
    private static readonly AsyncLocal<ReceiveTransaction?> Current = new();

    public async Task<PostgresConnection> GetConnection()
    {
        if (System.Transactions.Transaction.Current is not null)
            return await ordinary.GetConnection();

        var receive = Current.Value;
        var connection = new NpgsqlConnection(connectionString);
        try
        {
            await connection.OpenAsync();
            var transaction = await connection.BeginTransactionAsync(isolation);
            if (receive is not null)
                receive.Transaction = transaction;
            return new PostgresConnection(connection, transaction);
        }
        catch
        {
            await connection.DisposeAsync();
            throw;
        }
    }

    /// <summary>
    /// Keeps the connection that is opened next in this asynchronous flow. The caller's own flow, which goes on to the handler, does not see it.
    /// </summary>
    public static async Task<T> KeepAsync<T>(ReceiveTransaction receive, Func<Task<T>> open)
    {
        Current.Value = receive;
        return await open();
    }
}
