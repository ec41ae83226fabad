using Kit.Endpoints.Bare;
using Kit.Runner.Results;

namespace Kit.Runner.Operations;

/// <summary>The dead letters of one queue that a user named. Nothing is created or dropped.</summary>
/// <exception cref="KitException">Every member: the server cannot be reached or refuses, or there is no such queue.</exception>
internal interface IDeadLetters : IAsyncDisposable
{
    /// <summary>In the order of failing.</summary>
    Task<IReadOnlyList<DeadLetter>> ReadAsync(CancellationToken cancellationToken);

    /// <summary>Puts them back into the queue, as messages that never failed.</summary>
    /// <param name="messageIds">Which; <see langword="null"/> for all.</param>
    /// <param name="cancellationToken">Cancels it.</param>
    /// <returns>The ids of the returned messages, in the order of failing.</returns>
    Task<IReadOnlyList<Guid>> ReturnAsync(IReadOnlyCollection<Guid>? messageIds, CancellationToken cancellationToken);
}
