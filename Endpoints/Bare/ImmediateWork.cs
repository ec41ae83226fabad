using System.Data.Common;

namespace Kit.Endpoints.Bare;

/// <summary>Lends a connection in autocommit and sends at once.</summary>
internal sealed class ImmediateWork(DbDataSource data, Func<OutgoingMessage, Task> send) : IWork, IAsyncDisposable
{
    private DbConnection? connection;

    public async ValueTask<DbConnection> GetConnectionAsync(CancellationToken cancellationToken) =>
        connection ??= await data.OpenConnectionAsync(cancellationToken);

    public Task SendAsync(OutgoingMessage message, CancellationToken cancellationToken) => send(message);

    public ValueTask DisposeAsync() => connection?.DisposeAsync() ?? ValueTask.CompletedTask;
}
