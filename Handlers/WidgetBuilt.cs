using System.Text.Json.Serialization;

namespace Kit.Handlers;

/// <summary>What a handler sends for a message: that its widget is built, the document that it forwards, or its reply.</summary>
/// <param name="MessageId">
/// The message that was handled; also the id of this message, so that an experiment can account for it: it is the only one that its sink gets for that message.
/// </param>
public sealed record WidgetBuilt(Guid MessageId)
{
    /// <summary>The forwarded document, or the reply; <see langword="null"/>: the message has its id alone.</summary>
    [JsonIgnore(Condition = JsonIgnoreCondition.WhenWritingNull)]
    public string? Document { get; init; }
}
