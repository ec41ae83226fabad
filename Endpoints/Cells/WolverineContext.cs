using System.Data.Common;
using Kit.Handlers;
using Microsoft.Extensions.DependencyInjection;
using Wolverine.Runtime;

namespace Kit.Endpoints.Cells;

/// <summary>The address of a queue on an endpoint's transport.</summary>
internal delegate Uri AddressOfQueue(string queue);

/// <summary>What Wolverine gives a handler for one attempt at a message.</summary>
internal sealed class WolverineContext(MessageContext context, IConnections connections) : IMessageContext
{
    public ValueTask<DbConnection> GetAsync(CancellationToken cancellationToken) => connections.GetAsync(cancellationToken);

    public ValueTask<DbTransaction?> GetTransactionAsync(CancellationToken cancellationToken) => connections.GetTransactionAsync(cancellationToken);

    public Task SendAsync(string queue, WidgetBuilt message, CancellationToken cancellationToken) =>
        context.EndpointFor(context.Runtime.Services.GetRequiredService<AddressOfQueue>()(queue)).SendAsync(message).AsTask();

    // Where a message names no address, the durable inbox gives it that of its own queue.
    public Task ReplyAsync(WidgetBuilt message, CancellationToken cancellationToken) =>
        context.Envelope!.ReplyUri is { } address && address != context.Envelope.Destination && address != context.Envelope.Listener?.Address
            ? context.RespondToSenderAsync(message).AsTask()
            : throw new InvalidOperationException(
                $"Expected the queue for a reply in message {context.Envelope.Id}, and it names none. The sender of a request must name one.");

    public Task PublishAsync(WidgetReady message, CancellationToken cancellationToken) => context.PublishAsync(message).AsTask();
}
