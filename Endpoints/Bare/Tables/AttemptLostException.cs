using System.Diagnostics.CodeAnalysis;

namespace Kit.Endpoints.Bare.Tables;

/// <summary>The queue's session was lost while a message was handled. The attempt must still be counted, on a new session.</summary>
[SuppressMessage("Design", "CA1064:Exceptions should be public", Justification = "It goes from a receiver to its worker, and no further.")]
internal sealed class AttemptLostException(QueuedMessage message, Exception failure) : Exception(failure.Message, failure)
{
    public QueuedMessage QueuedMessage => message;

    public Exception Failure => InnerException!;
}
