namespace Kit.Handlers;

/// <summary>Announces a widget. Sent by the handlers that send.</summary>
/// <param name="MessageId">The message that built the widget; also the id of this message.</param>
public sealed record WidgetBuilt(Guid MessageId);
