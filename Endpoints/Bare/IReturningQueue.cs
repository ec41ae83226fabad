namespace Kit.Endpoints.Bare;

/// <summary>A queue to which dead letters can be returned.</summary>
public interface IReturningQueue : IMessageQueue
{
    /// <summary>Whether the queue exists.</summary>
    Task<bool> ExistsAsync(CancellationToken cancellationToken);

    /// <summary>Puts dead letters back at the end of the queue, as messages that never failed.</summary>
    /// <param name="messageIds">
    /// Which messages; <see langword="null"/> for all that are there now. If several messages have the same id, all of them are returned.
    /// </param>
    /// <param name="cancellationToken">Cancels it. The implementation documents what becomes of messages that were already returned.</param>
    /// <returns>The ids of the returned messages, in the order in which they failed; an empty id for a message without one.</returns>
    /// <exception cref="DeadLetterNotFoundException">An id is not in the error queue. No message was returned.</exception>
    Task<IReadOnlyList<Guid>> ReturnErrorsAsync(IReadOnlyCollection<Guid>? messageIds, CancellationToken cancellationToken);
}
