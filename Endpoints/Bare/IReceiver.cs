namespace Kit.Endpoints.Bare;

/// <summary>
/// One worker's way from queue to handler and back, in one mode. Each mode has its own file with the same skeleton (receive, handle, commit or
/// acknowledge, or else answer the failure), and each constructor the same order (queue, what the mode needs, pipeline, recoverability), so that
/// a diff of two files is the comparison.
/// </summary>
internal interface IReceiver : IAsyncDisposable
{
    /// <summary>Receives and handles one message.</summary>
    /// <param name="cancellationToken">Cancelled when the host no longer waits for handlers.</param>
    /// <returns>
    /// <see langword="false"/> when the queue had none to receive; <see langword="null"/> when a server refused: the queue was not asked, or the
    /// message went back without an attempt.
    /// </returns>
    Task<bool?> ReceiveAsync(CancellationToken cancellationToken);
}
