namespace Kit.Endpoints.Bare.PostgreSql.Batches;

/// <summary>One worker in one mode, which receives batches. Each mode has its own file, as with <see cref="IReceiver"/>.</summary>
internal interface IBatchReceiver
{
    /// <summary>Receives and handles the messages of one batch.</summary>
    /// <inheritdoc cref="IReceiver.ReceiveAsync" path="/param"/>
    /// <inheritdoc cref="IReceiver.ReceiveAsync" path="/returns"/>
    /// <exception cref="Exception">A failure that cannot be charged to one message. What could be rolled back was, and no attempt is counted.</exception>
    Task<bool?> ReceiveAsync(CancellationToken cancellationToken);
}
