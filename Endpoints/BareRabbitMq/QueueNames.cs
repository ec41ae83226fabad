using RabbitMQ.Client;
using RabbitMQ.Client.Exceptions;

namespace Kit.Endpoints.Bare.RabbitMq;

/// <summary>The queues of one endpoint: its own, one for messages that are tried again, one for those that were given up.</summary>
internal sealed class QueueNames(string name, QueueType type, bool hasRetries = true)
{
    public string Queue => name;

    public string Retries => name + "_retry";

    public string Errors => name + "_error";

    /// <summary>Those that the kit declares. A framework with retries of its own declares its error queue too.</summary>
    public IReadOnlyList<string> All => hasRetries ? [Queue, Retries, Errors] : [Queue];

    /// <summary>Declares the queues, which creates those that are not there.</summary>
    /// <exception cref="BrokerException">One is there with other arguments.</exception>
    public async Task DeclareAsync(IConnection connection, CancellationToken cancellationToken)
    {
        foreach (var queue in All)
            await DeclareAsync(connection, queue, type, cancellationToken);
    }

    private static async Task DeclareAsync(IConnection connection, string queue, QueueType type, CancellationToken cancellationToken)
    {
        // A refused declaration closes its channel.
        await using var channel = await connection.CreateChannelAsync(cancellationToken: cancellationToken);
        var arguments = type is QueueType.Quorum ? new Dictionary<string, object?> { ["x-queue-type"] = "quorum" } : null;
        try
        {
            await channel.QueueDeclareAsync(queue, durable: true, exclusive: false, autoDelete: false, arguments, cancellationToken: cancellationToken);
        }
        catch (OperationInterruptedException refused) when (refused.ShutdownReason?.ReplyCode == 406)
        {
            throw new BrokerException(
                $"Queue '{queue}' is there already, and not as a durable {type.ToString().ToLowerInvariant()} queue: {refused.ShutdownReason.ReplyText} " +
                "Delete it, or configure the endpoint as it is.",
                refused);
        }
    }
}
