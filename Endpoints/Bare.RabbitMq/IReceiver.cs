namespace Kit.Endpoints.Bare.RabbitMq;

/// <summary>
/// One worker's way from queue to handler and back, in one mode. Each mode has its own file with the same skeleton (receive, handle,
/// publish, acknowledge, or else answer the failure), so that a diff of two files is the comparison.
/// </summary>
internal interface IReceiver : IAsyncDisposable
{
    /// <summary>Receives and handles one message.</summary>
    /// <param name="cancellationToken">Cancelled when the host no longer waits for handlers.</param>
    /// <returns>
    /// <see langword="false"/> when there was none to receive; <see langword="null"/> when the handlers' database refused, and the message went back.
    /// </returns>
    Task<bool?> ReceiveAsync(CancellationToken cancellationToken);
}
