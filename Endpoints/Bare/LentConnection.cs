using System.Data.Common;
using System.Transactions;

namespace Kit.Endpoints.Bare;

/// <summary>The one connection of one attempt: opened when the handler first asks for it, and remembering when the server refused it.</summary>
/// <param name="open">Opens it.</param>
internal sealed class LentConnection<TConnection>(Func<CancellationToken, ValueTask<TConnection>> open) : IAsyncDisposable
    where TConnection : DbConnection
{
    // A handler may ask twice at the same time.
    private readonly SemaphoreSlim opening = new(1);

    public TConnection? Connection { get; private set; }

    /// <summary>Why the server did not let the handler in; <see langword="null"/> when it did, or was not asked.</summary>
    public Exception? Refusal { get; private set; }

    /// <exception cref="DbException">The server refuses or cannot be reached.</exception>
    public async ValueTask<TConnection> GetAsync(CancellationToken cancellationToken)
    {
        if (Connection is { } opened)
            return opened;

        await opening.WaitAsync(cancellationToken);
        try
        {
            return Connection ??= await OpenAsync(cancellationToken);
        }
        finally
        {
            opening.Release();
        }
    }

    public async ValueTask DisposeAsync()
    {
        if (Connection is not null)
            await Connection.DisposeAsync();
        opening.Dispose();
    }

    private async ValueTask<TConnection> OpenAsync(CancellationToken cancellationToken)
    {
        try
        {
            var connection = await open(cancellationToken);
            Refusal = null;
            return connection;
        }
        catch (Exception refused) when (refused is not (OperationCanceledException or TransactionException))
        {
            Refusal = refused;
            throw;
        }
    }
}
