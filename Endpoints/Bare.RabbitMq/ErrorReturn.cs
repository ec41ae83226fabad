using RabbitMQ.Client;
using RabbitMQ.Client.Exceptions;

namespace Kit.Endpoints.Bare.RabbitMq;

/// <summary>Returns messages from the error queue to the queue: publishes each, waits for the confirmation, then acknowledges it.</summary>
/// <param name="names">The queues.</param>
/// <param name="taking">The channel that takes messages. When it closes, unacknowledged ones return to their place in the error queue.</param>
/// <param name="returning">The channel that publishes, with confirms.</param>
internal sealed class ErrorReturn(QueueNames names, IChannel taking, IChannel returning)
{
    // If the process ends between confirmation and acknowledgement, at most this many messages are doubled.
    private const int Batch = 100;

    private static readonly TimeSpan ConfirmDeadline = TimeSpan.FromSeconds(30);

    /// <inheritdoc cref="RabbitMqQueue.ReturnErrorsAsync"/>
    public async Task<IReadOnlyList<Guid>> RunAsync(IReadOnlyCollection<Guid>? messageIds, CancellationToken cancellationToken)
    {
        var returned = new List<Guid>();
        foreach (var batch in (await TakeAsync(messageIds, cancellationToken)).Chunk(Batch))
        {
            await PublishAsync(batch, cancellationToken);
            foreach (var message in batch)
            {
                await taking.BasicAckAsync(message.DeliveryTag, multiple: false, cancellationToken);
                returned.Add(AmqpMessage.MessageIdOf(message.BasicProperties));
            }
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

    private async Task PublishAsync(IEnumerable<BasicGetResult> messages, CancellationToken cancellationToken)
    {
        var publishes = messages.Select(message => returning.BasicPublishAsync(
            exchange: "", names.Queue, mandatory: true, message.BasicProperties.WithoutFailures(), message.Body, cancellationToken)
            .AsTask());
        try
        {
            await Task.WhenAll(publishes).WaitAsync(ConfirmDeadline, cancellationToken);
        }
        catch (PublishException refused)
        {
            throw new BrokerException(
                refused.IsReturn
                    ? $"There is no queue '{names.Queue}' (NO_ROUTE)."
                    : $"The broker refused a message for queue '{names.Queue}'.",
                refused);
        }
        catch (TimeoutException late)
        {
            throw new BrokerException(
                $"The broker did not confirm messages for '{names.Queue}' within {ConfirmDeadline.TotalSeconds} s. A memory or disk " +
                "alarm blocks publishers. The messages are still in the error queue, and may be in the queue too.",
                late);
        }
    }
}
