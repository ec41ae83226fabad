using System.Text.Json;

namespace Kit.Endpoints.Bare;

/// <summary>A message on its way into a queue.</summary>
/// <param name="Queue">The queue that receives it; of an event, the name of its type.</param>
/// <param name="MessageId">Its id.</param>
/// <param name="Type">The name of its type.</param>
/// <param name="Body">Its JSON body, in UTF-8.</param>
public sealed record OutgoingMessage(string Queue, Guid MessageId, string Type, byte[] Body)
{
    /// <summary>The header that names the queue for a reply. On RabbitMQ it is the property <c>reply_to</c> of AMQP.</summary>
    public const string ReplyToHeader = "reply-to";

    /// <summary>Whether it is published: each queue that has subscribed to its type receives it.</summary>
    public bool IsEvent { get; init; }

    /// <summary>Headers that travel with it, besides its id, type and body; for example <c>traceparent</c>.</summary>
    /// <exception cref="ArgumentException">
    /// A name is empty or begins with <c>kit-</c>, a value is null, the queue for a reply is longer than 255 bytes, or they exceed 16,384 characters.
    /// </exception>
    public IReadOnlyDictionary<string, string> Headers { get; init => field = MessageHeaders.Required(value); } = MessageHeaders.None;

    /// <summary>The queue that a reply to it goes to, as its headers name it; <see langword="null"/>: they name none.</summary>
    public string? ReplyTo => MessageHeaders.ReplyToIn(Headers);

    /// <param name="queue">The queue that receives it.</param>
    /// <param name="message">Serialized as JSON.</param>
    /// <param name="messageId">The message's id; a new one by default.</param>
    /// <param name="json">How it is serialized; by default <see cref="JsonSerializerOptions.Default"/>.</param>
    /// <exception cref="NotSupportedException">The type cannot be serialized.</exception>
    /// <exception cref="ArgumentException">The queue's name, or the type's name, is longer than 255 bytes.</exception>
    public static OutgoingMessage Create<TMessage>(string queue, TMessage message, Guid? messageId = null, JsonSerializerOptions? json = null)
        where TMessage : notnull
    {
        var type = TypeName(message.GetType());
        ShortName.Require(queue, "A queue's name");
        ShortName.Require(type, "The name of a message's type");
        return new(queue, messageId ?? Guid.CreateVersion7(), type, JsonSerializer.SerializeToUtf8Bytes(message, message.GetType(), json));
    }

    /// <summary>Creates an event, for the queues that have subscribed to its type.</summary>
    /// <inheritdoc cref="Create" path="/param"/>
    /// <inheritdoc cref="Create" path="/exception"/>
    public static OutgoingMessage CreateEvent<TMessage>(TMessage message, Guid? messageId = null, JsonSerializerOptions? json = null)
        where TMessage : notnull => Create(TypeName(message.GetType()), message, messageId, json) with { IsEvent = true };

    /// <inheritdoc cref="TypeNames.Of"/>
    internal static string TypeName(Type type) => TypeNames.Of(type);
}
