using System.Data.Common;

namespace Kit.Endpoints.Bare;

/// <summary>
/// Lends a connection in autocommit and sends at once. Nobody else has the message any more and it is not tried again, so it waits for a server
/// that refuses the connection.
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
