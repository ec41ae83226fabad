using System.Data;
using System.Data.Common;
using Npgsql;

namespace Kit.Endpoints.Bare.PostgreSql.Queues;

/// <summary>The transaction of a receive, whose commit also receives the next message: see <see cref="ReceiveAhead"/>.</summary>
internal sealed class CommitThatReceives(NpgsqlTransaction begun, ReceiveAhead ahead) : DbTransaction
{
    private bool hasEnded;

    public override IsolationLevel IsolationLevel => begun.IsolationLevel;

    protected override DbConnection? DbConnection => begun.Connection;

    public override void Commit() => throw new NotSupportedException("The endpoint commits asynchronously.");

    public override async Task CommitAsync(CancellationToken cancellationToken = default)
    {
        // From now on the driver's object stands for the connection's next transaction, even if this one could not be ended.
        hasEnded = true;
        await ahead.CommitAsync(begun, []);
    }

    public override void Rollback() => throw new NotSupportedException("The endpoint rolls back asynchronously.");

    public override Task RollbackAsync(CancellationToken cancellationToken = default)
    {
        if (hasEnded)
            throw new InvalidOperationException("The transaction has ended, and the connection may have that of the next message.");

        hasEnded = true;
        return begun.RollbackAsync(cancellationToken);
    }

    public override async ValueTask DisposeAsync()
    {
        if (!hasEnded)
            await begun.DisposeAsync();
        await base.DisposeAsync();
    }
}
