namespace Kit.Endpoints.Bare.Tables;

/// <summary>A message as it was in its table.</summary>
/// <param name="Position">Its position in the queue. It keeps that when it is put back.</param>
internal sealed record QueuedMessage(
    long Position, Guid MessageId, string Type, byte[] Body, int FailedAttempts, IReadOnlyDictionary<string, string> Headers)
    : ReceivedMessage(MessageId, Type, Body, FailedAttempts, Headers);
