namespace Kit.Endpoints.Bare;

/// <summary>A message as it was in the queue.</summary>
/// <param name="MessageId">Its id.</param>
/// <param name="Type">The name of its type.</param>
/// <param name="Body">Its JSON body.</param>
/// <param name="FailedAttempts">How many attempts have failed before.</param>
/// <param name="Headers">Its headers.</param>
internal abstract record ReceivedMessage(
    Guid MessageId, string Type, byte[] Body, int FailedAttempts, IReadOnlyDictionary<string, string> Headers);
