using System.Collections.Concurrent;
using Kit.Endpoints.Bare.Outbox;
using Kit.Endpoints.Bare.PostgreSql.Queues;
using Kit.Endpoints.Bare.PostgreSql.TwoPhase;
using Npgsql;

namespace Kit.Endpoints.Bare.PostgreSql.Modes;

/// <summary>
/// Receives whose commit got no answer, and the sends dispatched with them. Until it crashes, the server knows the outcome of each
/// (<c>pg_xact_status</c>), so that no committed dispatch is repeated. This list lasts only as long as the process.
/// </summary>
internal sealed class UnansweredReceives(OutboxStore outbox)
{
    private readonly ConcurrentQueue<(RunningTransaction Transaction, Guid MessageId, IReadOnlyCollection<OutboxRecord> Dispatched)> receives = new();

    public void Add(RunningTransaction receive, Guid messageId, IReadOnlyCollection<OutboxRecord> dispatched) =>
        receives.Enqueue((receive, messageId, dispatched));

    /// <summary>Deletes the sends that were dispatched with committed receives. The others are dispatched again.</summary>
    /// <exception cref="InvalidOperationException">A receive is still committing, so the outcome of its sends is unknown.</exception>
    /// <exception cref="NpgsqlException">A database cannot be reached.</exception>
    public async Task ResolveAsync(NpgsqlConnection queues, CancellationToken cancellationToken)
    {
        while (receives.TryPeek(out var receive))
        {
            // Unknown: the queues' server has crashed since, perhaps without this receive.
            var outcome = await receive.Transaction.ReadOutcomeAsync(queues, cancellationToken);
            if (outcome is BranchDecision.Undecided)
                throw new InvalidOperationException($"The receive of message {receive.MessageId} is still committing.");
            if (outcome is BranchDecision.Committed)
            {
                using var standbys = StandbyWait.On(queues);
                await standbys.AwaitAllAsync();
                await standbys.RepeatAsync(cancellationToken);
                await outbox.ForgetAsync(receive.MessageId, receive.Dispatched);
            }

            receives.TryDequeue(out _);
        }

        await outbox.ForgetLateAsync(cancellationToken);
    }
}
