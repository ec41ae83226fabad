using System.Globalization;
using System.Text;
using RabbitMQ.Client;

namespace Kit.Endpoints.Bare.RabbitMq;

/// <summary>How a message lies in a queue: persistent, its identity and type in the properties, the failures in headers.</summary>
internal static class AmqpMessage
{
    private const string FailedAttempts = "kit-failed-attempts";
    private const string Reason = "kit-reason";

    public static BasicProperties PropertiesOf(OutgoingMessage message) => new()
    {
        MessageId = message.MessageId.ToString(),
        Type = message.Type,
        ContentType = "application/json",
        Persistent = true,
    };

    /// <summary>The properties of a message that is put into another queue.</summary>
    public static BasicProperties WithFailures(this IReadOnlyBasicProperties properties, int failedAttempts, string? reason = null)
    {
        var headers = new Dictionary<string, object?>(properties.Headers ?? new Dictionary<string, object?>()) { [FailedAttempts] = failedAttempts };
        if (reason is not null)
            headers[Reason] = reason;

        return new BasicProperties(properties) { Headers = headers, Persistent = true };
    }

    /// <summary>Empty where the sender gave none or none of the kit's.</summary>
    public static Guid MessageIdOf(IReadOnlyBasicProperties properties) => Guid.TryParse(properties.MessageId, out var id) ? id : Guid.Empty;

    public static int FailedAttemptsOf(IReadOnlyBasicProperties properties) =>
        properties.Headers?.TryGetValue(FailedAttempts, out var count) == true ? Convert.ToInt32(count, CultureInfo.InvariantCulture) : 0;

    public static string ReasonOf(IReadOnlyBasicProperties properties) =>
        properties.Headers?.TryGetValue(Reason, out var reason) == true && reason is byte[] text ? Encoding.UTF8.GetString(text) : "";
}
