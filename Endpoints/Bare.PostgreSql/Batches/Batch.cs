using System.Runtime.ExceptionServices;
using Kit.Endpoints.Bare.PostgreSql.Queues;
using Kit.Endpoints.Bare.Tables;

namespace Kit.Endpoints.Bare.PostgreSql.Batches;

/// <summary>
/// Handles the messages of one batch, one after the other. A message that fails is answered in the transaction that received the batch, and its
/// neighbours go on.
/// </summary>
/// <param name="queue">The session that received the batch.</param>
/// <param name="recoverability">Answers failures.</param>
internal abstract class Batch(QueueSession queue, Recoverability recoverability)
{
    private IReadOnlyList<QueuedMessage> received = [];
    private int begun;

    /// <summary>The messages that no handler has begun.</summary>
    public IReadOnlyList<QueuedMessage> NotBegun => [.. received.Skip(begun)];

    protected QueueSession Queue => queue;

    /// <summary>Whether the handlers work in one transaction, so that a message can fail because of its neighbours.</summary>
    protected abstract bool SharesTransaction { get; }

    /// <summary>Handles all messages, unless a server refuses or the host stops waiting. Then the rest goes back without an attempt.</summary>
    /// <returns>
    /// The refusal that the caller throws after its commit; <see langword="null"/> if there was none, or if the host stops waiting.
    /// </returns>
    /// <exception cref="Exception">
    /// A failure that cannot be charged to one message, such as a lost session. The caller rolls the whole batch back, and no attempt is counted.
    /// </exception>
    public async Task<Exception?> HandleAllAsync(IReadOnlyList<QueuedMessage> messages, CancellationToken cancellationToken)
    {
        received = messages;
        for (var next = 0; next < messages.Count; next++)
        {
            if (cancellationToken.IsCancellationRequested)
            {
                await queue.PutBackAsync(messages.Skip(next));
                return null;
            }

            var message = messages[next];
            begun = next + 1;
            if (await TryAsync(message, cancellationToken) is not { } failure)
                continue;

            if (cancellationToken.IsCancellationRequested || FailureKinds.OfPostgreSql.Of(failure) is FailureKind.Refused)
            {
                var delay = cancellationToken.IsCancellationRequested ? TimeSpan.Zero : recoverability.DelayAfterRefusal(failure);
                await queue.RequeueAsync(message, delay);
                await queue.PutBackAsync(messages.Skip(begun));
                return cancellationToken.IsCancellationRequested ? null : Failure.ReasonOf(failure);
            }

            // What a neighbour left in the transaction, such as a temporary table, can fail a message. So its last attempt is made alone.
            if (SharesTransaction && recoverability.IsLastAttempt(message, failure))
                ExceptionDispatchInfo.Throw(failure);

            await recoverability.AnswerInBatchAsync(queue, message, failure);
        }

        return null;
    }

    /// <summary>Handles a message and writes its sends. After a failure, nothing of either is left, as far as the mode can roll it back.</summary>
    /// <returns>The failure of this message alone; <see langword="null"/> if it was handled.</returns>
    protected abstract Task<Exception?> TryAsync(QueuedMessage message, CancellationToken cancellationToken);
}
