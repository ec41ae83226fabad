using Wolverine;
using Wolverine.Runtime;

namespace Kit.Endpoints.Wolverine;

/// <summary>
/// Dead-letters a message whose type has no handler, which Wolverine by default logs and discards. <see cref="UnknownMessageBehavior.DeadLetterQueue"/> does
/// the same, and also to the messages with which Wolverine's senders ask whether a queue can be reached. Where it is set, this leaves the message to it.
/// </summary>
internal sealed class UnknownTypeIsDeadLettered : IMissingHandler
{
    private const string Ping = "wolverine-ping";

    public ValueTask HandleAsync(IEnvelopeLifecycle context, IWolverineRuntime root) =>
        context.Envelope is { MessageType: not Ping } envelope && root.Options.UnknownMessageBehavior != UnknownMessageBehavior.DeadLetterQueue
            ? new ValueTask(context.MoveToDeadLetterQueueAsync(
                new InvalidOperationException($"No handler for messages of type '{envelope.MessageType}'. Add one, or correct the sender.")))
            : ValueTask.CompletedTask;
}
