using System.Data.Common;

namespace Kit.Handlers;

/// <summary>Where a handler gets its connection. The endpoint decides which transaction it belongs to.</summary>
public interface IConnections
{
    /// <summary>
    /// The handler's open connection to the widgets' database, the same one each time it is asked for. It is lent: the endpoint
    /// opened it and closes it.
    /// </summary>
    /// <exception cref="DbException">The database cannot be reached.</exception>
    ValueTask<DbConnection> GetAsync(CancellationToken cancellationToken);
}
