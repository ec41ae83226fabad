using System.Data.Common;

namespace Kit.Endpoints.Bare;

/// <summary>
/// Lends a connection in autocommit and sends at once. The message has left the queue and is not retried, so if the server refuses the
/// connection, the handler waits for it.
/// </summary>
internal sealed class ImmediateWork(PatientDataSource data, Func<OutgoingMessage, Task> send) : IWork, IAsyncDisposable
{
    private readonly LentOnce<DbConnection> lent = new(data.OpenAsync);

    public Exception? Refusal => null;

    public bool SendsAtOnce => true;

    public ValueTask<DbConnection> GetConnectionAsync(CancellationToken cancellationToken) => lent.GetAsync(cancellationToken);

    public ValueTask<DbTransaction?> GetTransactionAsync(CancellationToken cancellationToken) => ValueTask.FromResult<DbTransaction?>(null);

    public Task SendAsync(OutgoingMessage message, CancellationToken cancellationToken) => send(message);

    public async ValueTask DisposeAsync()
    {
        if (await lent.CloseAsync() is { } connection)
            await connection.DisposeAsync();
    }
}
