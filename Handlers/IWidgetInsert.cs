using System.Data.Common;

namespace Kit.Handlers;

/// <summary>One insert, written with one access library.</summary>
public interface IWidgetInsert
{
    /// <exception cref="DbException">The database refused the row or cannot be reached.</exception>
    Task InsertAsync(DbConnection connection, Widget widget, CancellationToken cancellationToken);
}
