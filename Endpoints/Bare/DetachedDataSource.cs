using System.Data.Common;
using System.Transactions;

namespace Kit.Endpoints.Bare;

/// <summary>Opens connections that join no ambient transaction, whatever the source itself does: a handler may have opened a scope of its own.</summary>
internal sealed class DetachedDataSource(DbDataSource source) : DbDataSource
{
    public override string ConnectionString => source.ConnectionString;

    /// <summary>Keeps a connection that is opened meanwhile out of the ambient transaction; nothing to do where there is none.</summary>
    public static TransactionScope? Detach() => Transaction.Current is null
        ? null
        : new TransactionScope(TransactionScopeOption.Suppress, TransactionScopeAsyncFlowOption.Enabled);

    protected override DbConnection CreateDbConnection() => source.CreateConnection();

    protected override async ValueTask<DbConnection> OpenDbConnectionAsync(CancellationToken cancellationToken = default)
    {
        using var detached = Detach();
        return await source.OpenConnectionAsync(cancellationToken);
    }
}
