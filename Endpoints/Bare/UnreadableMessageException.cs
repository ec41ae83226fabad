namespace Kit.Endpoints.Bare;

/// <summary>A message that no attempt could ever handle: its type has no handler here or its body cannot be read.</summary>
public sealed class UnreadableMessageException(string message, Exception? innerException = null) : Exception(message, innerException);
