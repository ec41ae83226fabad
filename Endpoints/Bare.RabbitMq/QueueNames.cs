using Kit.Modes;
using RabbitMQ.Client;
using RabbitMQ.Client.Exceptions;

namespace Kit.Endpoints.Bare.RabbitMq;

/// <summary>The queues of one endpoint: its own, one for retries, and one for messages that were given up.</summary>
internal sealed class QueueNames(string name, QueueType type, bool hasRetries = true, string? errors = null)
{
    public string Queue => name;

    public string Retries => name + "_retry";

    public string Errors => errors ?? ErrorQueue.Of(name);

    public QueueType Type => type;

    /// <summary>
    /// The queues that the kit creates, the error queue before the queues that dead-letter to it. A framework with its own retries creates its
    /// other queues itself.
    /// </summary>
    public IReadOnlyList<string> All => hasRetries ? [Errors, Queue, Retries] : [Queue];

    /// <summary>The arguments that one of these queues is declared with.</summary>
    public IReadOnlyDictionary<string, object?> ArgumentsOf(string queue) => QueueArguments.Of(type, queue == Errors ? null : Errors);

    /// <summary>Creates missing queues.</summary>
    /// <returns>The queues that already existed. They are not changed.</returns>
    /// <exception cref="BrokerException">The broker refused.</exception>
    public async Task<IReadOnlyList<string>> CreateMissingAsync(IConnection connection, CancellationToken cancellationToken)
    {
        var found = new List<string>();
        foreach (var queue in All)
        {
            if (await IsThereAsync(connection, queue, cancellationToken))
                found.Add(queue);
            else
                await connection.DeclareQueueAsync(queue, type, ArgumentsOf(queue), cancellationToken);
        }

        return found;
    }

    private static async Task<bool> IsThereAsync(IConnection connection, string queue, CancellationToken cancellationToken)
    {
        // If the queue does not exist, the broker closes the channel.
        await using var channel = await connection.CreateChannelAsync(cancellationToken: cancellationToken);
        try
        {
            await channel.QueueDeclarePassiveAsync(queue, cancellationToken);
            return true;
        }
        catch (OperationInterruptedException none) when (none.IsNotFound())
        {
            return false;
        }
    }
}
