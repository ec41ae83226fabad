using System.Collections.Concurrent;
using Kit.Endpoints.Bare.Outbox;
using Npgsql;

namespace Kit.Endpoints.Bare.PostgreSql;

/// <summary>
/// Receives whose commit got no answer, and the sends dispatched with them. The server knows the outcome of each (<c>pg_xact_status</c>), so
/// that no committed dispatch is repeated. This list lasts only as long as the process.
/// </summary>
internal sealed class UnansweredReceives(OutboxStore outbox)
{
    private readonly ConcurrentQueue<(ulong TransactionId, Guid MessageId, IReadOnlyCollection<OutboxRecord> Dispatched)> receives = new();

    public void Add(ulong transactionId, Guid messageId, IReadOnlyCollection<OutboxRecord> dispatched) =>
        receives.Enqueue((transactionId, messageId, dispatched));

    /// <summary>Deletes the sends that were dispatched with committed receives. The others are dispatched again.</summary>
    /// <exception cref="InvalidOperationException">A receive is still committing, so the outcome of its sends is unknown.</exception>
    /// <exception cref="NpgsqlException">A database cannot be reached.</exception>
    public async Task ResolveAsync(NpgsqlConnection queues, CancellationToken cancellationToken)
    {
        while (receives.TryPeek(out var receive))
        {
            var status = await PostgreSqlStatement.ReadTransactionStatusAsync(queues, receive.TransactionId, cancellationToken);
            if (status == "in progress")
                throw new InvalidOperationException($"The receive of message {receive.MessageId} is still committing.");
            if (status == "committed")
                await outbox.ForgetAsync(receive.MessageId, receive.Dispatched);

            receives.TryDequeue(out _);
        }

        await outbox.ForgetLateAsync(cancellationToken);
    }
}
