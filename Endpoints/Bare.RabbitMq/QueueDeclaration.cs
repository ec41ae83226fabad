using RabbitMQ.Client;
using RabbitMQ.Client.Exceptions;

namespace Kit.Endpoints.Bare.RabbitMq;

/// <summary>Declarations of durable queues, and what their refusal means.</summary>
internal static class QueueDeclaration
{
    // The broker names the first argument that differs, as in: inequivalent arg 'x-queue-type' for queue 'work' in vhost '/'.
    private static readonly string[] OfTheType = ["'durable'", "'exclusive'", "'auto_delete'", "'x-queue-type'"];

    /// <summary>Declares a queue, which creates it where it is not there.</summary>
    /// <exception cref="BrokerException">It is there with other arguments.</exception>
    public static async Task DeclareQueueAsync(
        this IConnection connection,
        string queue,
        QueueType type,
        IReadOnlyDictionary<string, object?> arguments,
        CancellationToken cancellationToken)
    {
        // A refused declaration closes its channel.
        await using var channel = await connection.CreateChannelAsync(cancellationToken: cancellationToken);
        try
        {
            await channel.QueueDeclareAsync(
                queue, durable: true, exclusive: false, autoDelete: false, arguments.ToDictionary(), cancellationToken: cancellationToken);
        }
        catch (OperationInterruptedException refused) when (refused.ShutdownReason?.ReplyCode == 406)
        {
            throw OtherQueue(queue, type, $"{refused.ShutdownReason.ReplyText} Expected: {Describe(arguments)}.", refused);
        }
    }

    /// <summary>Whether a queue that is there is a durable one of this type, as a declaration tells where nothing else does.</summary>
    /// <returns>What else is different, in the broker's words; <see langword="null"/> where nothing is.</returns>
    /// <exception cref="BrokerException">It is of another type.</exception>
    public static async Task<string?> RequireTypeAsync(
        this IConnection connection,
        string queue,
        QueueType type,
        IReadOnlyDictionary<string, object?> arguments,
        CancellationToken cancellationToken)
    {
        try
        {
            await connection.DeclareQueueAsync(queue, type, arguments, cancellationToken);
            return null;
        }
        catch (BrokerException other) when (other.InnerException is OperationInterruptedException refused && !IsOfTheType(refused))
        {
            return refused.ShutdownReason!.ReplyText;
        }
    }

    public static BrokerException OtherQueue(string queue, QueueType type, string found, Exception? refused = null) => new(
        $"Queue '{queue}' is there already, and not as a durable {type.ToString().ToLowerInvariant()} queue: {found} " +
        "Delete it, or configure the endpoint as it is.",
        refused);

    private static bool IsOfTheType(OperationInterruptedException refused) =>
        OfTheType.Any(name => refused.ShutdownReason!.ReplyText.Contains($"arg {name}", StringComparison.Ordinal));

    private static string Describe(IReadOnlyDictionary<string, object?> arguments) =>
        arguments.Count == 0 ? "no arguments" : string.Join(", ", arguments.Select(argument => $"{argument.Key}={argument.Value}"));
}
