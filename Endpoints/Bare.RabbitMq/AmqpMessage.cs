using System.Globalization;
using System.Text;
using RabbitMQ.Client;

namespace Kit.Endpoints.Bare.RabbitMq;

/// <summary>How a message lies in a queue: persistent, its identity and type in the properties, the failures in headers.</summary>
internal static class AmqpMessage
{
    private const string FailedAttempts = MessageHeaders.Reserved + "failed-attempts";
    private const string Reason = MessageHeaders.Reserved + "reason";
    private const string Due = MessageHeaders.Reserved + "not-before";
    private const string FailedAt = MessageHeaders.Reserved + "failed-at";

    // A clock that was set back must not hold a message for longer than any delay.
    private static readonly TimeSpan LongestDelay = TimeSpan.FromMinutes(1);

    public static BasicProperties PropertiesOf(OutgoingMessage message) => new()
    {
        MessageId = message.MessageId.ToString(),
        Type = message.Type,
        ContentType = "application/json",
        Persistent = true,
        Headers = message.Headers.Count == 0 ? null : message.Headers.ToDictionary(header => header.Key, header => (object?)header.Value),
    };

    /// <summary>What the sender gave with the message as text; neither the kit's own headers nor the broker's.</summary>
    public static IReadOnlyDictionary<string, string> HeadersOf(IReadOnlyBasicProperties properties) => properties.Headers is null
        ? MessageHeaders.None
        : properties.Headers
            .Where(header => header.Value is byte[] && !MessageHeaders.IsTaken(header.Key))
            .ToDictionary(header => header.Key, header => Encoding.UTF8.GetString((byte[])header.Value!), StringComparer.Ordinal);

    /// <summary>The properties of a message that is put into another queue.</summary>
    public static BasicProperties WithFailures(this IReadOnlyBasicProperties properties, int failedAttempts, string? reason = null)
    {
        var headers = new Dictionary<string, object?>(properties.Headers ?? new Dictionary<string, object?>()) { [FailedAttempts] = failedAttempts };
        if (reason is not null)
        {
            headers[Reason] = reason;
            headers[FailedAt] = DateTimeOffset.UtcNow.ToUnixTimeMilliseconds();
        }

        return new BasicProperties(properties) { Headers = headers, Persistent = true };
    }

    /// <summary>The properties of a message that is to be handled as if it had never failed.</summary>
    public static BasicProperties WithoutFailures(this IReadOnlyBasicProperties properties)
    {
        var headers = new Dictionary<string, object?>(properties.Headers ?? new Dictionary<string, object?>());
        foreach (var header in new[] { FailedAttempts, Reason, FailedAt, Due })
            headers.Remove(header);

        return new BasicProperties(properties) { Headers = headers, Persistent = true };
    }

    /// <summary>The same properties, for a message that is to wait; without a delay, one from before is taken away.</summary>
    public static BasicProperties NotBefore(this BasicProperties properties, TimeSpan delay)
    {
        if (delay > TimeSpan.Zero)
            properties.Headers![Due] = DateTimeOffset.UtcNow.Add(delay).ToUnixTimeMilliseconds();
        else
            properties.Headers!.Remove(Due);

        return properties;
    }

    /// <summary>How long a message is still to wait; zero where it is due.</summary>
    public static TimeSpan DelayOf(IReadOnlyBasicProperties properties)
    {
        if (NumberIn(properties, Due) is not { } due)
            return TimeSpan.Zero;

        var delay = TimeSpan.FromMilliseconds(due - DateTimeOffset.UtcNow.ToUnixTimeMilliseconds());
        return delay < TimeSpan.Zero ? TimeSpan.Zero : delay < LongestDelay ? delay : LongestDelay;
    }

    /// <summary>Empty where the sender gave none or none of the kit's.</summary>
    public static Guid MessageIdOf(IReadOnlyBasicProperties properties) => Guid.TryParse(properties.MessageId, out var id) ? id : Guid.Empty;

    public static int FailedAttemptsOf(IReadOnlyBasicProperties properties) =>
        NumberIn(properties, FailedAttempts) is { } count ? (int)Math.Clamp(count, 0, int.MaxValue) : 0;

    /// <summary>Why a message was given up, by its endpoint or by the broker; empty where neither says.</summary>
    public static string ReasonOf(IReadOnlyBasicProperties properties) =>
        TextIn(properties.Headers, Reason) is { Length: > 0 } reason ? reason : BrokersReasonOf(properties);

    /// <summary>By the clock of the process that gave it up; <see langword="null"/> where it wrote none.</summary>
    public static DateTimeOffset? FailedAtOf(IReadOnlyBasicProperties properties) =>
        properties.Headers?.TryGetValue(FailedAt, out var moment) == true && moment is long milliseconds
            ? DateTimeOffset.FromUnixTimeMilliseconds(milliseconds)
            : null;

    /// <summary>
    /// Why the broker moved a message to where it is, as it notes in a header: https://www.rabbitmq.com/docs/dlx#effects; empty where it
    /// did not.
    /// </summary>
    public static string BrokersReasonOf(IReadOnlyBasicProperties properties) =>
        // The latest is the first. How often it was delivered is not told.
        properties.Headers?.TryGetValue("x-death", out var deaths) == true && deaths is IEnumerable<object> all
            && all.FirstOrDefault() is IDictionary<string, object?> latest
            ? TextIn(latest, "reason") switch
            {
                "delivery_limit" =>
                    $"The broker gave it up: queue '{TextIn(latest, "queue")}' had delivered it more often than its delivery limit allows " +
                    "(delivery_limit).",
                var reason => $"The broker moved it out of queue '{TextIn(latest, "queue")}' ({reason}).",
            }
            : "";

    /// <summary>A number in a header; <see langword="null"/> without one, or where somebody wrote something else there.</summary>
    private static long? NumberIn(IReadOnlyBasicProperties properties, string key) => properties.Headers?.TryGetValue(key, out var value) == true
        ? value switch
        {
            long number => number,
            int number => number,
            byte[] text when long.TryParse(Encoding.UTF8.GetString(text), NumberStyles.Integer, CultureInfo.InvariantCulture, out var number) => number,
            _ => null,
        }
        : null;

    private static string TextIn(IDictionary<string, object?>? table, string key) =>
        table?.TryGetValue(key, out var value) == true && value is byte[] text ? Encoding.UTF8.GetString(text) : "";
}
