using System.Text.Json.Serialization;

namespace Kit.Handlers;

/// <summary>The command that every cell handles: build one widget.</summary>
/// <param name="MessageId">Identifies the message, so that a run can account for each one.</param>
public sealed record BuildWidget(Guid MessageId)
{
    /// <summary>Text that makes the message as large as a round needs it; no handler reads it. <see langword="null"/>: the message has its id alone.</summary>
    [JsonIgnore(Condition = JsonIgnoreCondition.WhenWritingNull)]
    public string? Padding { get; init; }

    /// <summary>The document that the handler reads or forwards, in XML; <see langword="null"/> in scenarios without one.</summary>
    [JsonIgnore(Condition = JsonIgnoreCondition.WhenWritingNull)]
    public string? Document { get; init; }

    /// <summary>The id of the row that the message asks for; <see langword="null"/> in scenarios that answer nothing.</summary>
    [JsonIgnore(Condition = JsonIgnoreCondition.WhenWritingNull)]
    public long? Row { get; init; }

    /// <summary>
    /// The queue that a reply goes to; <see langword="null"/>: nobody waits for one. It travels with the message as its framework writes an address, and not
    /// in the body.
    /// </summary>
    [JsonIgnore]
    public string? ReplyTo { get; init; }
}
