using System.Data;
using Npgsql;

namespace Kit.Endpoints.Bare;

/// <summary>A connection in a local transaction of the kit's own. Closing the connection is what rolls back.</summary>
internal sealed class LocalTransaction : IAsyncDisposable
{
    private LocalTransaction(NpgsqlConnection connection, NpgsqlTransaction lent)
    {
        Connection = connection;
        Lent = lent;
    }

    public NpgsqlConnection Connection { get; }

    /// <summary>
    /// For the handler alone. The driver gives the same object to whoever has the physical connection next: what the endpoint commits, it
    /// commits by a statement that fails where the handler has ended the transaction.
    /// </summary>
    public NpgsqlTransaction Lent { get; }

    /// <summary>Opens a connection and begins its transaction. The driver sends BEGIN together with the next statement.</summary>
    /// <param name="data">Of the handlers' database.</param>
    /// <param name="isolation">The mode's.</param>
    /// <param name="cancellationToken">Cancels the opening.</param>
    /// <exception cref="NpgsqlException">The database cannot be reached, or refuses.</exception>
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
