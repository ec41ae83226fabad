using System.Data.Common;

namespace Kit.Handlers;

/// <summary>Where a handler gets its connections. The endpoint decides which transaction they belong to.</summary>
public interface IConnections
{
    /// <summary>Opens a connection to the widgets' database. The caller disposes it, in every mode.</summary>
    /// <exception cref="DbException">The database cannot be reached.</exception>
    ValueTask<DbConnection> OpenAsync(CancellationToken cancellationToken);
}
