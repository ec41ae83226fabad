namespace Kit.Endpoints.Bare;

/// <summary>A queue in a database that knows when each message was committed.</summary>
public interface ICommittedQueue : IMessageQueue
{
    /// <summary>The messages that are left behind a place in the queue, in any order.</summary>
    /// <param name="position">The place. Whoever sends later gets a later one, but may commit earlier.</param>
    /// <param name="cancellationToken">Ends the reading.</param>
    Task<IReadOnlyList<CommittedMessage>> ReadCommittedAsync(long position, CancellationToken cancellationToken);

    /// <summary>The messages that have the last places in the queue, in any order.</summary>
    /// <param name="most">How many at most.</param>
    /// <param name="cancellationToken">Ends the reading.</param>
    Task<IReadOnlyList<CommittedMessage>> ReadLatestAsync(int most, CancellationToken cancellationToken);
}
