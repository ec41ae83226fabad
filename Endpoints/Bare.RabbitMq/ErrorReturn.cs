using RabbitMQ.Client;

namespace Kit.Endpoints.Bare.RabbitMq;

/// <summary>Returns messages from the error queue to the queue: publishes each, waits for the confirmation, then acknowledges it.</summary>
/// <remarks>
/// One after the other. The broker closes the channel of a message that it refuses, and then nobody knows whether it has others that are under way: they
/// would be returned twice. If the process ends or is told to between the publish and the acknowledgement, one is doubled.
/// </remarks>
/// <param name="names">The queues.</param>
/// <param name="taking">The channel that takes messages. When it closes, unacknowledged ones return to their place in the error queue.</param>
/// <param name="returning">Publishes them.</param>
internal sealed class ErrorReturn(QueueNames names, IChannel taking, Publisher returning)
{
    /// <inheritdoc cref="RabbitMqQueue.ReturnErrorsAsync"/>
    public async Task<IReadOnlyList<Guid>> RunAsync(IReadOnlyCollection<Guid>? messageIds, CancellationToken cancellationToken)
    {
        var returned = new List<Guid>();
        BrokerException? refused = null;
        foreach (var message in await TakeAsync(messageIds, cancellationToken))
        {
            cancellationToken.ThrowIfCancellationRequested();
            try
            {
                await returning.PublishAsync(names.Queue, message.BasicProperties.Carried(), message.Body, cancellationToken);
            }
            catch (BrokerException unfit) when (unfit.IsOfTheMessage)
            {
                // It stays in the error queue. The others are returned first.
                refused ??= unfit;
                continue;
            }

            await taking.BasicAckAsync(message.DeliveryTag, multiple: false, CancellationToken.None);
            returned.Add(AmqpMessage.MessageIdOf(message.BasicProperties));
        }

        return refused is null ? returned : throw refused;
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
