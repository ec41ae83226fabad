namespace Kit.Endpoints.Bare;

/// <summary>
/// One worker in one mode. Each mode has its own file with the same skeleton (receive, handle, commit or acknowledge, react to a failure), and
/// the same order of constructor parameters (queue, what the mode needs, pipeline, recoverability), so that a diff of two files is the
/// comparison.
/// </summary>
internal interface IReceiver : IAsyncDisposable
{
    /// <summary>Receives and handles one message, or the messages of one batch.</summary>
    /// <param name="cancellationToken">Cancelled when the host no longer waits for handlers.</param>
    /// <returns>
    /// <see langword="false"/> if the queue had no message to receive; <see langword="null"/> if a server refused, so that nothing was received
    /// or the message went back without an attempt.
    /// </returns>
    Task<bool?> ReceiveAsync(CancellationToken cancellationToken);
}
