namespace Kit.Endpoints.Bare.Tables;

/// <summary>A message as it lay in its table.</summary>
/// <param name="Position">Its place in the queue, kept when it is put back.</param>
internal sealed record QueuedMessage(
    long Position, Guid MessageId, string Type, byte[] Body, int FailedAttempts, IReadOnlyDictionary<string, string> Headers)
    : ReceivedMessage(MessageId, Type, Body, FailedAttempts, Headers);
