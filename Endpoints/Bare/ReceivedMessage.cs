namespace Kit.Endpoints.Bare;

/// <summary>A message as it lay in the queue.</summary>
/// <param name="Position">Its place in the queue, kept when it is put back.</param>
/// <param name="MessageId">Its identity.</param>
/// <param name="Type">The name of its type.</param>
/// <param name="Body">Its JSON body.</param>
/// <param name="FailedAttempts">How often it was handled before, without success.</param>
internal sealed record ReceivedMessage(long Position, Guid MessageId, string Type, byte[] Body, int FailedAttempts);
