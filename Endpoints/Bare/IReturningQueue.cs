namespace Kit.Endpoints.Bare;

/// <summary>A queue that takes its dead letters back.</summary>
public interface IReturningQueue : IMessageQueue
{
    /// <summary>Whether it is there.</summary>
    Task<bool> ExistsAsync(CancellationToken cancellationToken);

    /// <summary>Puts dead letters back at the end of the queue, as messages that never failed.</summary>
    /// <param name="messageIds">Which; <see langword="null"/> for all that lie there now. Of several with one id all are meant.</param>
    /// <param name="cancellationToken">Cancels it. The queue says what becomes of those that were returned by then.</param>
    /// <returns>The ids of the returned messages, in the order of failing; empty ones for messages without.</returns>
    /// <exception cref="DeadLetterNotFoundException">An id is not among the errors; none was returned.</exception>
    Task<IReadOnlyList<Guid>> ReturnErrorsAsync(IReadOnlyCollection<Guid>? messageIds, CancellationToken cancellationToken);
}
