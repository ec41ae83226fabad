namespace Kit.Handlers;

/// <summary>The command that every cell handles: build one widget.</summary>
/// <param name="MessageId">Identifies the message, so that a run can account for each one.</param>
public sealed record BuildWidget(Guid MessageId);
