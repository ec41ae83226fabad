using Kit.Endpoints.Bare;
using Kit.Runner.Results;

namespace Kit.Runner.Stage.Operations;

/// <summary>The dead letters of one queue of the user's. Nothing is created or dropped.</summary>
/// <exception cref="KitException">Every member: the server cannot be reached or refuses, or there is no such queue.</exception>
internal abstract class DeadLetters(IReturningQueue queue) : IAsyncDisposable
{
    /// <summary>The error if the server has no such queue.</summary>
    protected abstract KitException Missing { get; }

    /// <inheritdoc cref="IMessageQueue.ReadErrorsAsync"/>
    public Task<IReadOnlyList<DeadLetter>> ReadAsync(CancellationToken cancellationToken) =>
        OnQueueAsync(() => queue.ReadErrorsAsync(cancellationToken), cancellationToken);

    /// <inheritdoc cref="IReturningQueue.ReturnErrorsAsync"/>
    public Task<IReadOnlyList<Guid>> ReturnAsync(IReadOnlyCollection<Guid>? messageIds, CancellationToken cancellationToken) =>
        OnQueueAsync(() => queue.ReturnErrorsAsync(messageIds, cancellationToken), cancellationToken);

    public ValueTask DisposeAsync() => queue.DisposeAsync();

    /// <summary>The error for a failure of the driver; <see langword="null"/> for any other.</summary>
    protected abstract KitException? Explain(Exception failure);

    private async Task<T> OnQueueAsync<T>(Func<Task<T>> work, CancellationToken cancellationToken)
    {
        try
        {
            return await queue.ExistsAsync(cancellationToken) ? await work() : throw Missing;
        }
        catch (Exception failure)
        {
            if (Explain(failure) is { } explained)
                throw explained;
            throw;
        }
    }
}
