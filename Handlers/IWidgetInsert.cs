using System.Data.Common;

namespace Kit.Handlers;

/// <summary>One insert, written with one access library.</summary>
public interface IWidgetInsert
{
    /// <param name="connection">An open connection.</param>
    /// <param name="transaction">Its transaction; <see langword="null"/> if it has none, or if no object represents it.</param>
    /// <param name="widget">The row.</param>
    /// <param name="cancellationToken">Cancels the statement.</param>
    /// <exception cref="DbException">The database refused the row or cannot be reached. A library can wrap it in an exception of its own.</exception>
    Task InsertAsync(DbConnection connection, DbTransaction? transaction, Widget widget, CancellationToken cancellationToken);
}
