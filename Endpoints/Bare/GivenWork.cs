using System.Data.Common;

namespace Kit.Endpoints.Bare;

/// <summary>The work of a handler that a test calls: lends the given connection, and keeps the sends.</summary>
internal sealed class GivenWork(
    DbConnection connection, DbTransaction? transaction, ICollection<OutgoingMessage> sends, IReadOnlyDictionary<string, DbConnection>? participants) : IWork
{
    public Exception? Refusal => null;

    public ValueTask<DbConnection> GetConnectionAsync(CancellationToken cancellationToken) => ValueTask.FromResult(connection);

    public ValueTask<DbTransaction?> GetTransactionAsync(CancellationToken cancellationToken) => ValueTask.FromResult(transaction);

    public ValueTask<DbConnection> GetConnectionAsync(string participant, CancellationToken cancellationToken) =>
        participants?.GetValueOrDefault(participant) is { } given
            ? ValueTask.FromResult(given)
            : throw Participant.Unknown(participant, participants?.Keys ?? []);

    public async ValueTask<DbTransaction?> GetTransactionAsync(string participant, CancellationToken cancellationToken)
    {
        await GetConnectionAsync(participant, cancellationToken);
        return null;
    }

    public Task SendAsync(OutgoingMessage message, CancellationToken cancellationToken)
    {
        sends.Add(message);
        return Task.CompletedTask;
    }
}
