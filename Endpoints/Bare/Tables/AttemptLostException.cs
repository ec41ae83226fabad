using System.Diagnostics.CodeAnalysis;

namespace Kit.Endpoints.Bare.Tables;

/// <summary>The queue's session was lost while a message was handled. The attempt must still be answered, on a new session.</summary>
/// <param name="message">The message.</param>
/// <param name="failure">The attempt's failure.</param>
/// <param name="unanswered">Why a new session could not answer it, if that was tried.</param>
[SuppressMessage("Design", "CA1064:Exceptions should be public", Justification = "It goes from a receiver to its worker, and no further.")]
internal sealed class AttemptLostException(QueuedMessage message, Exception failure, Exception? unanswered = null)
    : Exception((unanswered ?? failure).Message, failure)
{
    public QueuedMessage QueuedMessage => message;

    public Exception Failure => InnerException!;
}
