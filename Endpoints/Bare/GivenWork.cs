using System.Data.Common;

namespace Kit.Endpoints.Bare;

/// <summary>The work of a handler that a test calls: lends the given connection, and keeps the sends.</summary>
internal sealed class GivenWork(DbConnection connection, DbTransaction? transaction, ICollection<OutgoingMessage> sends) : IWork
{
    public Exception? Refusal => null;

    public ValueTask<DbConnection> GetConnectionAsync(CancellationToken cancellationToken) => ValueTask.FromResult(connection);

    public ValueTask<DbTransaction?> GetTransactionAsync(CancellationToken cancellationToken) => ValueTask.FromResult(transaction);

    public Task SendAsync(OutgoingMessage message, CancellationToken cancellationToken)
    {
        sends.Add(message);
        return Task.CompletedTask;
    }
}
