using System.Data;
using System.Data.Common;
using Npgsql;

namespace Kit.Endpoints.Bare;

/// <summary>
/// Lends a connection in a local transaction, which commits with the ambient one, and holds sends back until the handler has succeeded.
/// </summary>
internal sealed class LocalTransactionWork(NpgsqlDataSource data, IsolationLevel isolation) : SoleResource, IWork, IAsyncDisposable
{
    private readonly LentOnce<LocalTransaction> lent = new(cancellationToken => LocalTransaction.OpenToLendAsync(data, isolation, cancellationToken));

    private readonly List<OutgoingMessage> sends = [];

    /// <inheritdoc cref="LocalTransaction.CommitAsync" path="/param[@name='isFlushed']"/>
    public bool IsFlushed { get; init; }

    public IReadOnlyCollection<OutgoingMessage> Sends => sends;

    public Exception? Refusal => lent.Refusal;

    public async ValueTask<DbConnection> GetConnectionAsync(CancellationToken cancellationToken) => (await lent.GetAsync(cancellationToken)).Connection;

    public async ValueTask<DbTransaction?> GetTransactionAsync(CancellationToken cancellationToken) => (await lent.GetAsync(cancellationToken)).Lent;

    public Task SendAsync(OutgoingMessage message, CancellationToken cancellationToken)
    {
        sends.Add(message);
        return Task.CompletedTask;
    }

    /// <summary>Rolls back unless it has committed.</summary>
    public async ValueTask DisposeAsync()
    {
        if (await lent.CloseAsync() is { } local)
            await local.DisposeAsync();
    }

    protected override async Task<Exception?> CommitAsync()
    {
        try
        {
            if (await lent.CloseAsync() is { } local)
                await local.CommitAsync(IsFlushed);

            return null;
        }
        catch (Exception failure)
        {
            return failure;
        }
    }
}
