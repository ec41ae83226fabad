using System.Globalization;
using System.Text.RegularExpressions;
using RabbitMQ.Client;
using RabbitMQ.Client.Exceptions;

namespace Kit.Endpoints.Bare.RabbitMq;

/// <summary>Declares durable queues, and explains refusals.</summary>
internal static partial class QueueDeclaration
{
    // The broker names the first argument that differs, as in: inequivalent arg 'x-queue-type' for queue 'work' in vhost '/'.
    private static readonly string[] OfTheType = ["durable", "exclusive", "auto_delete", "x-queue-type"];

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

    /// <summary>
    /// Requires that an existing queue is durable and of this type. It finds out with declarations, for lack of another way. The broker names one argument that
    /// differs, and perhaps not the type: with the value that the queue has, the next declaration shows the next.
    /// </summary>
    /// <returns>Which argument differs, in the broker's words; <see langword="null"/> if none does.</returns>
    /// <exception cref="BrokerException">The queue has another type, or one that cannot be found out.</exception>
    public static async Task<string?> RequireTypeAsync(
        this IConnection connection,
        string queue,
        QueueType type,
        IReadOnlyDictionary<string, object?> arguments,
        CancellationToken cancellationToken)
    {
        var tried = arguments.ToDictionary();
        string? difference = null;
        while (true)
        {
            try
            {
                await connection.DeclareQueueAsync(queue, type, tried, cancellationToken);
                return difference;
            }
            catch (BrokerException other) when (other.InnerException is OperationInterruptedException refused && TryAdopt(refused, tried))
            {
                difference ??= refused.ShutdownReason!.ReplyText;
            }
        }
    }

    public static BrokerException OtherQueue(string queue, QueueType type, string found, Exception? refused = null) => new(
        $"Queue '{queue}' already exists, and not as a durable {type.ToString().ToLowerInvariant()} queue: {found} " +
        "Delete it, or configure the endpoint to match it.",
        refused);

    /// <summary>Gives an argument that differs the value of the queue.</summary>
    /// <returns><see langword="false"/> if it is the type's, or its value cannot be given.</returns>
    private static bool TryAdopt(OperationInterruptedException refused, Dictionary<string, object?> arguments)
    {
        if (Difference().Match(refused.ShutdownReason!.ReplyText) is not { Success: true, Groups: var found } || OfTheType.Contains(found["name"].Value))
            return false;

        var (name, value) = (found["name"].Value, found["value"].Value);
        if (found["none"].Success)
            return arguments.Remove(name);
        arguments.TryGetValue(name, out var tried);
        // The broker names the type if the declaration has no such argument.
        object? its = (found["type"].Value, tried) switch
        {
            ("longstr", _) or ("", string) => value,
            ("bool", _) or ("", bool) => value == "true",
            _ => long.TryParse(value, NumberStyles.AllowLeadingSign, CultureInfo.InvariantCulture, out var number) ? number : null,
        };
        if (its is null || its.Equals(tried))
            return false;

        arguments[name] = its;
        return true;
    }

    // inequivalent arg 'x-max-length' for queue 'work' in vhost '/': received none but current is the value '1000' of type 'signedint'
    [GeneratedRegex(
        "arg '(?<name>[^']+)' .*but current is (the value '(?<value>.*)' of type '(?<type>[^']+)'|'(?<value>.*)'|(?<none>none))$",
        RegexOptions.ExplicitCapture,
        matchTimeoutMilliseconds: 1000)]
    private static partial Regex Difference();

    private static string Describe(IReadOnlyDictionary<string, object?> arguments) =>
        string.Join(", ", arguments.Select(argument => $"{argument.Key}={argument.Value}"));
}
