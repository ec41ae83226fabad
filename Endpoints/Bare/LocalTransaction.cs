using System.Data;
using Npgsql;

namespace Kit.Endpoints.Bare;

/// <summary>Connections in a local transaction of the kit's own.</summary>
internal static class LocalTransaction
{
    /// <summary>
    /// Opens a connection and begins its transaction; the statement goes with the first one that follows. The driver gives the same transaction
    /// object to whoever has the physical connection next: it is not kept, and closing the connection is what rolls back.
    /// </summary>
    /// <param name="data">Must not enlist by itself (<c>Enlist=false</c>).</param>
    /// <param name="isolation">The mode's.</param>
    /// <param name="cancellationToken">Cancels the opening.</param>
    /// <exception cref="NpgsqlException">The database cannot be reached, or refuses.</exception>
    public static async ValueTask<NpgsqlConnection> OpenAsync(NpgsqlDataSource data, IsolationLevel isolation, CancellationToken cancellationToken)
    {
        var connection = await data.OpenConnectionAsync(cancellationToken);
        try
        {
            await connection.BeginTransactionAsync(isolation, cancellationToken);
            return connection;
        }
        catch
        {
            await connection.DisposeAsync();
            throw;
        }
    }
}
