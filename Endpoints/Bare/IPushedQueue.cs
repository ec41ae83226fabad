namespace Kit.Endpoints.Bare;

/// <summary>A queue whose server pushes its messages to a consumer.</summary>
public interface IPushedQueue : IMessageQueue
{
    /// <summary>Receives every message, without acknowledgements, until it is disposed. That ends when all pushed messages are handed over.</summary>
    /// <param name="take">Receives each message, one at a time. The body is valid until it returns.</param>
    /// <param name="lose">Receives the reason if the server ends it.</param>
    /// <param name="cancellationToken">Cancels the beginning.</param>
    Task<IAsyncDisposable> ConsumeAsync(Action<Guid, ReadOnlyMemory<byte>> take, Action<Exception> lose, CancellationToken cancellationToken);
}
