namespace Kit.Endpoints.Bare;

/// <summary>Runs handlers, each in an ambient transaction of its own, and commits that: <c>dtc-off</c>.</summary>
internal interface IHandlerScope
{
    /// <returns>What the handler sent.</returns>
    /// <exception cref="ServerRefusedException">The handler's database could not be reached.</exception>
    /// <exception cref="Exception">The handler's own, or the reason why its transaction did not commit.</exception>
    Task<IReadOnlyCollection<OutgoingMessage>> RunAsync(MessagePipeline pipeline, ReceivedMessage message, CancellationToken cancellationToken);
}
