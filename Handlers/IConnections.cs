using System.Data.Common;

namespace Kit.Handlers;

/// <summary>Where a handler gets its connection. The endpoint decides which transaction it belongs to.</summary>
public interface IConnections
{
    /// <summary>
    /// The handler's open connection to the widgets' database; every call returns the same one. The endpoint opens and closes it.
    /// </summary>
    /// <exception cref="DbException">The database cannot be reached.</exception>
    ValueTask<DbConnection> GetAsync(CancellationToken cancellationToken);

    /// <summary>
    /// That connection's transaction, for libraries that need the object; <see langword="null"/> if it has none, or if no object represents it.
    /// </summary>
    /// <exception cref="DbException">The database cannot be reached.</exception>
    ValueTask<DbTransaction?> GetTransactionAsync(CancellationToken cancellationToken);
}
