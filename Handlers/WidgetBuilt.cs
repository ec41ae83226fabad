namespace Kit.Handlers;

/// <summary>Tells that a widget was built. Sent by handlers that send.</summary>
/// <param name="MessageId">The message that built it; also this message's identity.</param>
public sealed record WidgetBuilt(Guid MessageId);
