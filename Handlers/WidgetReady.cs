using System.Text.Json.Serialization;

namespace Kit.Handlers;

/// <summary>The event that a handler publishes: a widget is built, or a document has come.</summary>
/// <param name="MessageId">The message that was handled; also the id of this event.</param>
public sealed record WidgetReady(Guid MessageId)
{
    /// <summary>The document that came; <see langword="null"/>: the event has its id alone.</summary>
    [JsonIgnore(Condition = JsonIgnoreCondition.WhenWritingNull)]
    public string? Document { get; init; }
}
