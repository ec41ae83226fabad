namespace Kit.Handlers;

/// <summary>What a handler must have sent for a message.</summary>
/// <param name="Sink">To which of the scenario's queues, from 0.</param>
/// <param name="Document">With which document.</param>
public sealed record ExpectedSend(int Sink, string? Document);
