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
    /// <summary>The messages that no handler has begun.</summary>
    public IReadOnlyList<QueuedMessage> NotBegun { get; private set; } = [];

    protected QueueSession Queue => queue;

    /// <summary>Handles all messages, unless a server refuses or the host stops waiting. Then the rest goes back without an attempt.</summary>
    /// <returns>Why it ended early; <see langword="null"/> if it did not. The caller commits in both cases.</returns>
    /// <exception cref="Exception">
    /// A failure that no message owns, such as a lost session. The caller rolls the whole batch back, and no attempt is counted.
    /// </exception>
    public async Task<Exception?> HandleAllAsync(IReadOnlyList<QueuedMessage> messages, CancellationToken cancellationToken)
    {
        for (var next = 0; next < messages.Count; next++)
        {
            var message = messages[next];
            NotBegun = [.. messages.Skip(next + 1)];
            if (await TryAsync(message, cancellationToken) is not { } failure)
                continue;

            if (cancellationToken.IsCancellationRequested || FailureKinds.Of(failure) is FailureKind.Refused)
            {
                foreach (var rest in messages.Skip(next))
                    await queue.RequeueAsync(rest, TimeSpan.Zero);

                return Failure.ReasonOf(failure);
            }

            await recoverability.AnswerInBatchAsync(queue, message, failure);
        }

        return null;
    }

    /// <summary>Handles a message and writes its sends. After a failure, nothing of either is left, as far as the mode can roll it back.</summary>
    /// <returns>The failure of this message alone; <see langword="null"/> if it was handled.</returns>
    protected abstract Task<Exception?> TryAsync(QueuedMessage message, CancellationToken cancellationToken);
}
