namespace Kit.Endpoints.Bare.Outbox;

/// <summary>A message that a handler sent. It stays in the outbox until it is dispatched.</summary>
/// <param name="Position">Its position among the sends of the same message, from 0.</param>
internal sealed record OutboxRecord(int Position, OutgoingMessage Message);

/// <summary>A waiting record, and the message whose handler sent it.</summary>
/// <param name="CausationId">The id of the message that was handled.</param>
/// <param name="Queue">The queue that it is for.</param>
internal sealed record WaitingRecord(Guid CausationId, string Queue);
