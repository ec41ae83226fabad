namespace Kit.Handlers;

/// <summary>The event that a handler publishes: a widget is built.</summary>
/// <param name="MessageId">The message that was handled; also the id of this event.</param>
public sealed record WidgetReady(Guid MessageId);
