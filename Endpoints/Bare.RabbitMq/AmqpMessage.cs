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

    /// <summary>The longest delay: a worker waits with the message. If a clock is set back, no message waits longer.</summary>
    public static readonly TimeSpan LongestDelay = TimeSpan.FromMinutes(1);

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

    /// <summary>
    /// The properties of a received message that go along when the kit publishes it again: to the retry queue, to the error queue, or back from there. No
    /// other place decides that.
    /// </summary>
    /// <remarks>
    /// Of the properties of AMQP 0-9-1 three stay behind. The broker refuses a <c>user_id</c> that is not ours
    /// (https://www.rabbitmq.com/docs/validated-user-id). It deletes a message after its <c>expiration</c>, which was the time to the first delivery; when it
    /// moves a message itself, it removes that, too (https://www.rabbitmq.com/docs/dlx#effects). <c>cluster_id</c> means nothing any more. A priority goes
    /// along: only a queue that was declared with priorities heeds it, and there it is the sender's.
    /// </remarks>
    public static BasicProperties Carried(this IReadOnlyBasicProperties properties) => new()
    {
        ContentType = properties.ContentType,
        ContentEncoding = properties.ContentEncoding,
        Priority = properties.Priority,
        CorrelationId = properties.CorrelationId,
        ReplyTo = properties.ReplyTo,
        MessageId = properties.MessageId,
        Timestamp = properties.Timestamp,
        Type = properties.Type,
        AppId = properties.AppId,
        Headers = (properties.Headers ?? new Dictionary<string, object?>())
            .Where(header => !MessageHeaders.IsTaken(header.Key))
            .ToDictionary(header => header.Key, header => header.Value),
        Persistent = true,
    };

    /// <summary>The properties in the retry queue.</summary>
    /// <param name="properties">Those that the message was received with.</param>
    /// <param name="failedAttempts">How many attempts have failed.</param>
    /// <param name="delay">How long it must wait there.</param>
    public static BasicProperties ForRetry(this IReadOnlyBasicProperties properties, int failedAttempts, TimeSpan delay)
    {
        var retried = properties.Carried();
        retried.Headers![FailedAttempts] = failedAttempts;
        if (delay > TimeSpan.Zero)
            retried.Headers[Due] = DateTimeOffset.UtcNow.Add(delay).ToUnixTimeMilliseconds();

        return retried;
    }

    /// <summary>The properties in the error queue, and in the retry queue while the error queue refuses the message.</summary>
    /// <param name="properties">Those that the message was received with.</param>
    /// <param name="letter">What is told of it there.</param>
    public static BasicProperties ForErrors(this IReadOnlyBasicProperties properties, DeadLetter letter)
    {
        var given = properties.Carried();
        given.Headers![FailedAttempts] = letter.FailedAttempts;
        given.Headers[Reason] = letter.Reason;
        given.Headers[FailedAt] = (letter.FailedAt ?? DateTimeOffset.UtcNow).ToUnixTimeMilliseconds();
        return given;
    }

    /// <summary>The id and the type alone, for an error queue that does not take the others.</summary>
    public static BasicProperties WithoutTheOthers(this IReadOnlyBasicProperties properties) => new()
    {
        MessageId = MessageIdOf(properties) is var id && id != Guid.Empty ? id.ToString() : null,
        Type = properties.Type is { } type && ShortName.Fits(type) ? type : null,
    };

    /// <summary>How long a message must still wait; zero if it is due.</summary>
    public static TimeSpan DelayOf(IReadOnlyBasicProperties properties)
    {
        if (NumberIn(properties, Due) is not { } due)
            return TimeSpan.Zero;

        // Another sender can have written any number.
        var now = DateTimeOffset.UtcNow.ToUnixTimeMilliseconds();
        return TimeSpan.FromMilliseconds(Math.Clamp(due, now, now + (long)LongestDelay.TotalMilliseconds) - now);
    }

    /// <summary>The message's id; empty if the sender set none, or one of another form.</summary>
    public static Guid MessageIdOf(IReadOnlyBasicProperties properties) => Guid.TryParse(properties.MessageId, out var id) ? id : Guid.Empty;

    public static int FailedAttemptsOf(IReadOnlyBasicProperties properties) =>
        NumberIn(properties, FailedAttempts) is { } count ? (int)Math.Clamp(count, 0, int.MaxValue) : 0;

    /// <summary>Why its endpoint or the broker gave the message up; empty if neither says.</summary>
    private static string ReasonOf(IReadOnlyBasicProperties properties) =>
        OwnReasonOf(properties) is { Length: > 0 } reason ? reason : BrokersReasonOf(properties);

    /// <summary>Why its endpoint gave the message up; empty if it does not say.</summary>
    public static string OwnReasonOf(IReadOnlyBasicProperties properties) => TextIn(properties.Headers, Reason);

    /// <summary>What <see cref="ForErrors"/> or the broker has written.</summary>
    public static DeadLetter DeadLetterOf(IReadOnlyBasicProperties properties) =>
        new(MessageIdOf(properties), FailedAttemptsOf(properties), ReasonOf(properties))
        {
            Type = properties.Type ?? "",
            FailedAt = FailedAtOf(properties),
        };

    /// <summary>When it was given up, by the clock of the process that gave it up; <see langword="null"/> if unknown.</summary>
    private static DateTimeOffset? FailedAtOf(IReadOnlyBasicProperties properties) =>
        NumberIn(properties, FailedAt) is { } moment and >= 0 && moment <= DateTimeOffset.MaxValue.ToUnixTimeMilliseconds()
            ? DateTimeOffset.FromUnixTimeMilliseconds(moment)
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
            sbyte or byte or short or ushort or int or uint or long => Convert.ToInt64(value, CultureInfo.InvariantCulture),
            byte[] text when long.TryParse(Encoding.UTF8.GetString(text), NumberStyles.Integer, CultureInfo.InvariantCulture, out var number) => number,
            _ => null,
        }
        : null;

    private static string TextIn(IDictionary<string, object?>? table, string key) =>
        table?.TryGetValue(key, out var value) == true && value is byte[] text ? Encoding.UTF8.GetString(text) : "";
}
