namespace Kit.Endpoints.Bare;

/// <summary>Runs each handler in its own ambient transaction, and commits it: <c>dtc-off</c>.</summary>
internal interface IHandlerScope
{
    /// <returns>The messages that the handler sent.</returns>
    /// <exception cref="ServerRefusedException">The handler's database could not be reached.</exception>
    /// <exception cref="Exception">The handler's exception, or the reason why its transaction did not commit.</exception>
    Task<IReadOnlyCollection<OutgoingMessage>> RunAsync(MessagePipeline pipeline, ReceivedMessage message, CancellationToken cancellationToken);
}
