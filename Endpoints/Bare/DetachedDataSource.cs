using System.Data.Common;
using System.Transactions;

namespace Kit.Endpoints.Bare;

/// <summary>Opens connections that join no ambient transaction, even if the source enlists: a handler may have opened its own scope.</summary>
internal sealed class DetachedDataSource(DbDataSource source) : DbDataSource
{
    public override string ConnectionString => source.ConnectionString;

    /// <summary>Keeps connections that are opened in the meantime out of the ambient transaction; <see langword="null"/> if there is none.</summary>
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
