using System.Collections.Concurrent;
using Kit.Endpoints.Bare.Outbox;
using Kit.Endpoints.Bare.PostgreSql.TwoPhase;
using Npgsql;

namespace Kit.Endpoints.Bare.PostgreSql.Modes;

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
            // Unknown: the queues' database was restored from an older backup, without this receive.
            var outcome = await BranchDecisions.ReadAsync(queues.CreateCommand(), receive.TransactionId, cancellationToken);
            if (outcome is BranchDecision.Undecided)
                throw new InvalidOperationException($"The receive of message {receive.MessageId} is still committing.");
            if (outcome is BranchDecision.Committed)
                await outbox.ForgetAsync(receive.MessageId, receive.Dispatched);

            receives.TryDequeue(out _);
        }

        await outbox.ForgetLateAsync(cancellationToken);
    }
}
