using RabbitMQ.Client;
using RabbitMQ.Client.Exceptions;

namespace Kit.Endpoints.Bare.RabbitMq;

/// <summary>Declares durable queues, and explains refusals.</summary>
internal static class QueueDeclaration
{
    // The broker names the first argument that differs, as in: inequivalent arg 'x-queue-type' for queue 'work' in vhost '/'.
    private static readonly string[] OfTheType = ["'durable'", "'exclusive'", "'auto_delete'", "'x-queue-type'"];

    /// <summary>Declares a queue, which creates it if it does not exist.</summary>
    /// <exception cref="BrokerException">It exists with other arguments.</exception>
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

    /// <summary>Requires that an existing queue is durable and of this type. It finds out with a declaration, for lack of another way.</summary>
    /// <returns>Which argument differs, in the broker's words; <see langword="null"/> if none does.</returns>
    /// <exception cref="BrokerException">The queue has another type.</exception>
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
        $"Queue '{queue}' already exists, and not as a durable {type.ToString().ToLowerInvariant()} queue: {found} " +
        "Delete it, or configure the endpoint to match it.",
        refused);

    private static bool IsOfTheType(OperationInterruptedException refused) =>
        OfTheType.Any(name => refused.ShutdownReason!.ReplyText.Contains($"arg {name}", StringComparison.Ordinal));

    private static string Describe(IReadOnlyDictionary<string, object?> arguments) =>
        string.Join(", ", arguments.Select(argument => $"{argument.Key}={argument.Value}"));
}
