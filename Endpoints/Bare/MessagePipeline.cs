using Kit.Endpoints.Bare.Health;
using Microsoft.Extensions.DependencyInjection;

namespace Kit.Endpoints.Bare;

/// <summary>From a received body to the handler's call, the same in every mode.</summary>
/// <param name="scopes">Each attempt has a scope of its own.</param>
/// <param name="endpoint">Whose handlers are called.</param>
/// <param name="clock">Told of each attempt of one worker; none where nobody measures.</param>
internal sealed class MessagePipeline(IServiceScopeFactory scopes, BareEndpointBuilder endpoint, AttemptClock? clock = null)
{
    public EndpointTelemetry Telemetry => endpoint.Telemetry;

    /// <summary>The same, for one worker.</summary>
    public MessagePipeline MeasuredBy(AttemptClock worker) => new(scopes, endpoint, worker);

    /// <exception cref="UnreadableMessageException">There is nothing that could handle the message.</exception>
    /// <exception cref="ServerRefusedException">The handler failed, and its database had refused it a connection.</exception>
    public Task HandleAsync(ReceivedMessage received, IWork work, CancellationToken cancellationToken) => clock is null
        ? InvokeAsync(received, work, cancellationToken)
        : clock.ProcessAsync(received, () => InvokeAsync(received, work, cancellationToken));

    private async Task InvokeAsync(ReceivedMessage received, IWork work, CancellationToken cancellationToken)
    {
        if (!endpoint.Invokers.TryGetValue(received.Type, out var invoker))
        {
            throw new UnreadableMessageException(
                $"No handler for messages of type '{received.Type}'. Handled here: {string.Join(", ", endpoint.Invokers.Keys)}.");
        }

        var message = invoker.Read(received.Body, endpoint.Json);
        var context = new MessageContext(work, endpoint.Json, endpoint.Telemetry)
        {
            MessageId = received.MessageId,
            Attempt = received.FailedAttempts + 1,
            Headers = received.Headers,
        };
        try
        {
            await using var scope = scopes.CreateAsyncScope();
            await invoker.InvokeAsync(scope.ServiceProvider, message, context, cancellationToken);
        }
        catch (Exception) when (work.Refusal is { } refusal)
        {
            // Whatever the handler made of it.
            throw new ServerRefusedException(refusal);
        }
    }
}
