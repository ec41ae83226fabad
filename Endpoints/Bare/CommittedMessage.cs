namespace Kit.Endpoints.Bare;

/// <summary>A message in a queue of a database.</summary>
/// <param name="Position">Its place in the queue.</param>
/// <param name="MessageId">Its id.</param>
/// <param name="CommittedAt">When it was committed, by the server's clock.</param>
public sealed record CommittedMessage(long Position, Guid MessageId, DateTimeOffset CommittedAt);
