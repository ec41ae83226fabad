using Kit.Modes;
using RabbitMQ.Client;
using RabbitMQ.Client.Exceptions;

namespace Kit.Endpoints.Bare.RabbitMq;

/// <summary>The queues of one endpoint: its own, one for messages that are tried again, one for those that were given up.</summary>
internal sealed class QueueNames(string name, QueueType type, bool hasRetries = true, string? errors = null)
{
    public string Queue => name;

    public string Retries => name + "_retry";

    public string Errors => errors ?? ErrorQueue.Of(name);

    public QueueType Type => type;

    /// <summary>
    /// Those that the kit creates, the error queue before those whose messages it takes. A framework with retries of its own creates its
    /// own.
    /// </summary>
    public IReadOnlyList<string> All => hasRetries ? [Errors, Queue, Retries] : [Queue];

    /// <summary>What a queue of these is declared with.</summary>
    public IReadOnlyDictionary<string, object?> ArgumentsOf(string queue) => QueueArguments.Of(type, queue == Errors ? null : Errors);

    /// <summary>Creates those that are not there.</summary>
    /// <returns>Those that were there. They are left as they are.</returns>
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
        // A queue that is not there closes the channel.
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
