namespace Kit.Endpoints.Bare;

/// <summary>A message that no attempt could ever handle: the endpoint has no handler for its type, or cannot read its body.</summary>
public sealed class UnreadableMessageException(string message, Exception? innerException = null) : Exception(message, innerException);
