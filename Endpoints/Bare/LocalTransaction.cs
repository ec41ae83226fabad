using System.Data;
using Npgsql;

namespace Kit.Endpoints.Bare;

/// <summary>A connection in the kit's own local transaction. Closing the connection rolls back.</summary>
internal sealed class LocalTransaction : IAsyncDisposable
{
    private LocalTransaction(NpgsqlConnection connection, NpgsqlTransaction lent)
    {
        Connection = connection;
        Lent = lent;
    }

    public NpgsqlConnection Connection { get; }

    /// <summary>
    /// For the handler only. The driver reuses this object for the next user of the physical connection, so the endpoint commits with a
    /// statement instead, which fails if the handler has ended the transaction.
    /// </summary>
    public NpgsqlTransaction Lent { get; }

    /// <summary>Opens a connection and begins its transaction. The driver sends BEGIN together with the next statement.</summary>
    /// <param name="data">The handlers' database.</param>
    /// <param name="isolation">The mode's isolation level.</param>
    /// <param name="cancellationToken">Cancels the opening.</param>
    /// <exception cref="NpgsqlException">The database cannot be reached, or refuses the connection.</exception>
    public static async ValueTask<LocalTransaction> OpenAsync(NpgsqlDataSource data, IsolationLevel isolation, CancellationToken cancellationToken)
    {
        NpgsqlConnection connection;
        using (DetachedDataSource.Detach())
            connection = await data.OpenConnectionAsync(cancellationToken);
        try
        {
            return new LocalTransaction(connection, await connection.BeginTransactionAsync(isolation, cancellationToken));
        }
        catch
        {
            await connection.DisposeAsync();
            throw;
        }
    }

    public ValueTask DisposeAsync() => Connection.DisposeAsync();
}
