namespace Kit.Endpoints.Bare;

/// <summary>A message as it lay in the queue.</summary>
/// <param name="MessageId">Its identity.</param>
/// <param name="Type">The name of its type.</param>
/// <param name="Body">Its JSON body.</param>
/// <param name="FailedAttempts">How often it was handled before, without success.</param>
/// <param name="Headers">What travelled with it.</param>
internal abstract record ReceivedMessage(
    Guid MessageId, string Type, byte[] Body, int FailedAttempts, IReadOnlyDictionary<string, string> Headers);
