using System.Data.Common;

namespace Kit.Endpoints.Bare;

/// <summary>Lends a connection, which joins an ambient transaction if it enlists, and holds sends back until the handler has succeeded.</summary>
internal sealed class BufferedWork(DbDataSource data) : IWork, IAsyncDisposable
{
    private readonly LentOnce<DbConnection> lent = new(data.OpenConnectionAsync);
    private readonly List<OutgoingMessage> sends = [];

    public Exception? Refusal => lent.Refusal;

    /// <summary>Runs the handler and returns the messages that it sent.</summary>
    public static async Task<IReadOnlyCollection<OutgoingMessage>> RunAsync(
        MessagePipeline pipeline, ReceivedMessage message, DbDataSource data, CancellationToken cancellationToken)
    {
        await using var work = new BufferedWork(data);
        await pipeline.HandleAsync(message, work, cancellationToken);
        return work.sends;
    }

    public ValueTask<DbConnection> GetConnectionAsync(CancellationToken cancellationToken) => lent.GetAsync(cancellationToken);

    public ValueTask<DbTransaction?> GetTransactionAsync(CancellationToken cancellationToken) => ValueTask.FromResult<DbTransaction?>(null);

    public Task SendAsync(OutgoingMessage message, CancellationToken cancellationToken)
    {
        sends.Add(message);
        return Task.CompletedTask;
    }

    public async ValueTask DisposeAsync()
    {
        if (await lent.CloseAsync() is { } connection)
            await connection.DisposeAsync();
    }
}
