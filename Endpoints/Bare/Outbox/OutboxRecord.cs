namespace Kit.Endpoints.Bare.Outbox;

/// <summary>A message that a handler sent, as it lies in the outbox until its queue has it.</summary>
/// <param name="Position">Its place among those of the same handler, from 0.</param>
internal sealed record OutboxRecord(int Position, OutgoingMessage Message);

/// <summary>A record that waits, and whose handler sent it.</summary>
/// <param name="CausationId">The message that was handled.</param>
/// <param name="Queue">Where the record is to go.</param>
internal sealed record WaitingRecord(Guid CausationId, string Queue);

/// <summary>What waits in an outbox: every sent message for some milliseconds, and for longer those that could not be dispatched.</summary>
/// <param name="Records">How many.</param>
/// <param name="OldestAge">Since the transaction of the oldest one's handler began; <see langword="null"/> when none waits.</param>
internal sealed record OutboxBacklog(long Records, TimeSpan? OldestAge);
