using System.Globalization;
using System.Text;
using RabbitMQ.Client;

namespace Kit.Endpoints.Bare.RabbitMq;

/// <summary>The form of a message in a queue: persistent, with its id and type in properties and its failures in headers.</summary>
internal static class AmqpMessage
{
    private const string FailedAttempts = MessageHeaders.Reserved + "failed-attempts";
    private const string Reason = MessageHeaders.Reserved + "reason";
    private const string Due = MessageHeaders.Reserved + "not-before";
    private const string FailedAt = MessageHeaders.Reserved + "failed-at";

    // If a clock is set back, a message must not wait longer than any delay could be.
    private static readonly TimeSpan LongestDelay = TimeSpan.FromMinutes(1);

    public static BasicProperties PropertiesOf(OutgoingMessage message) => new()
    {
        MessageId = message.MessageId.ToString(),
        Type = message.Type,
        ContentType = "application/json",
        Persistent = true,
        ReplyTo = message.ReplyTo,
        Headers = message.Headers.Keys.All(IsReplyTo)
            ? null
            : message.Headers.Where(header => !IsReplyTo(header.Key)).ToDictionary(header => header.Key, header => (object?)header.Value),
    };

    /// <summary>The text headers that the sender set, without the kit's own and the broker's, and the property that names the queue for a reply.</summary>
    public static IReadOnlyDictionary<string, string> HeadersOf(IReadOnlyBasicProperties properties)
    {
        if (properties.Headers is null && !properties.IsReplyToPresent())
            return MessageHeaders.None;

        var headers = (properties.Headers ?? new Dictionary<string, object?>())
            .Where(header => header.Value is byte[] && !MessageHeaders.IsTaken(header.Key) && !IsReplyTo(header.Key))
            .ToDictionary(header => header.Key, header => Encoding.UTF8.GetString((byte[])header.Value!), StringComparer.Ordinal);
        if (properties.ReplyTo is { } queue)
            headers[OutgoingMessage.ReplyToHeader] = queue;
        return headers;
    }

    /// <summary>The properties of a message that is moved to another queue.</summary>
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

    /// <summary>The properties of a message that will be handled as if it had never failed.</summary>
    public static BasicProperties WithoutFailures(this IReadOnlyBasicProperties properties)
    {
        var headers = new Dictionary<string, object?>(properties.Headers ?? new Dictionary<string, object?>());
        foreach (var header in new[] { FailedAttempts, Reason, FailedAt, Due })
            headers.Remove(header);

        return new BasicProperties(properties) { Headers = headers, Persistent = true };
    }

    /// <summary>The same properties with a delay. Without a delay, an earlier one is removed.</summary>
    public static BasicProperties NotBefore(this BasicProperties properties, TimeSpan delay)
    {
        if (delay > TimeSpan.Zero)
            properties.Headers![Due] = DateTimeOffset.UtcNow.Add(delay).ToUnixTimeMilliseconds();
        else
            properties.Headers!.Remove(Due);

        return properties;
    }

    /// <summary>How long a message must still wait; zero if it is due.</summary>
    public static TimeSpan DelayOf(IReadOnlyBasicProperties properties)
    {
        if (NumberIn(properties, Due) is not { } due)
            return TimeSpan.Zero;

        var delay = TimeSpan.FromMilliseconds(due - DateTimeOffset.UtcNow.ToUnixTimeMilliseconds());
        return delay < TimeSpan.Zero ? TimeSpan.Zero : delay < LongestDelay ? delay : LongestDelay;
    }

    /// <summary>The message's id; empty if the sender set none, or one of another form.</summary>
    public static Guid MessageIdOf(IReadOnlyBasicProperties properties) => Guid.TryParse(properties.MessageId, out var id) ? id : Guid.Empty;

    public static int FailedAttemptsOf(IReadOnlyBasicProperties properties) =>
        NumberIn(properties, FailedAttempts) is { } count ? (int)Math.Clamp(count, 0, int.MaxValue) : 0;

    /// <summary>Why its endpoint or the broker gave the message up; empty if neither says.</summary>
    public static string ReasonOf(IReadOnlyBasicProperties properties) =>
        TextIn(properties.Headers, Reason) is { Length: > 0 } reason ? reason : BrokersReasonOf(properties);

    /// <summary>When it was given up, by the clock of the process that gave it up; <see langword="null"/> if unknown.</summary>
    public static DateTimeOffset? FailedAtOf(IReadOnlyBasicProperties properties) =>
        properties.Headers?.TryGetValue(FailedAt, out var moment) == true && moment is long milliseconds
            ? DateTimeOffset.FromUnixTimeMilliseconds(milliseconds)
            : null;

    /// <summary>
    /// Why the broker moved a message to this queue, from a header that the broker writes (https://www.rabbitmq.com/docs/dlx#effects); empty if it
    /// did not move it.
    /// </summary>
    public static string BrokersReasonOf(IReadOnlyBasicProperties properties) =>
        // The first entry is the latest. It does not say how often the message was delivered.
        properties.Headers?.TryGetValue("x-death", out var deaths) == true && deaths is IEnumerable<object> all
            && all.FirstOrDefault() is IDictionary<string, object?> latest
            ? TextIn(latest, "reason") switch
            {
                "delivery_limit" =>
                    $"The broker gave the message up: queue '{TextIn(latest, "queue")}' had delivered it more often than its delivery limit allows " +
                    "(delivery_limit).",
                var reason => $"The broker moved the message out of queue '{TextIn(latest, "queue")}' ({reason}).",
            }
            : "";

    private static bool IsReplyTo(string header) => header == OutgoingMessage.ReplyToHeader;

    /// <summary>A number in a header; <see langword="null"/> if there is none.</summary>
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
