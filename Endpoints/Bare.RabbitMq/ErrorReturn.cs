using RabbitMQ.Client;

namespace Kit.Endpoints.Bare.RabbitMq;

/// <summary>Returns messages from the error queue to the queue: publishes each, waits for the confirmation, then acknowledges it.</summary>
/// <param name="names">The queues.</param>
/// <param name="taking">The channel that takes messages. When it closes, unacknowledged ones return to their place in the error queue.</param>
/// <param name="returning">Publishes them.</param>
internal sealed class ErrorReturn(QueueNames names, IChannel taking, Publisher returning)
{
    // If the process ends between confirmation and acknowledgement, at most this many messages are doubled.
    private const int Batch = 100;

    /// <inheritdoc cref="RabbitMqQueue.ReturnErrorsAsync"/>
    public async Task<IReadOnlyList<Guid>> RunAsync(IReadOnlyCollection<Guid>? messageIds, CancellationToken cancellationToken)
    {
        var returned = new List<Guid>();
        foreach (var batch in (await TakeAsync(messageIds, cancellationToken)).Chunk(Batch))
        {
            var publishes = batch.Select(message => returning.PublishAsync(names.Queue, message.BasicProperties.Carried(), message.Body, cancellationToken))
                .ToList();
            var all = Task.WhenAll(publishes);
            await all.WaitAsync(cancellationToken).ConfigureAwait(ConfigureAwaitOptions.SuppressThrowing);
            // Those that the queue has are acknowledged, even if it refused another.
            foreach (var message in batch.Where((_, index) => publishes[index].IsCompletedSuccessfully))
            {
                await taking.BasicAckAsync(message.DeliveryTag, multiple: false, CancellationToken.None);
                returned.Add(AmqpMessage.MessageIdOf(message.BasicProperties));
            }

            cancellationToken.ThrowIfCancellationRequested();
            await all;
        }

        return returned;
    }

    private async Task<List<BasicGetResult>> TakeAsync(IReadOnlyCollection<Guid>? messageIds, CancellationToken cancellationToken)
    {
        // Only as many as there are now, because a running endpoint may keep adding to them.
        var count = (await taking.QueueDeclarePassiveAsync(names.Errors, cancellationToken)).MessageCount;
        var messages = new List<BasicGetResult>();
        for (var taken = 0L; taken < count; taken++)
        {
            if (await taking.BasicGetAsync(names.Errors, autoAck: false, cancellationToken) is not { } message)
                break;

            if (messageIds is null || messageIds.Contains(AmqpMessage.MessageIdOf(message.BasicProperties)))
                messages.Add(message);
        }

        var missing = messageIds?.Except(messages.Select(message => AmqpMessage.MessageIdOf(message.BasicProperties))).ToList();
        return missing is { Count: > 0 } ? throw new DeadLetterNotFoundException(missing) : messages;
    }
}
