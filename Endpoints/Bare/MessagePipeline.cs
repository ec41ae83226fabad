using Kit.Endpoints.Bare.Health;
using Microsoft.Extensions.DependencyInjection;

namespace Kit.Endpoints.Bare;

/// <summary>Reads a received body and calls the handler, in the same way in every mode.</summary>
/// <param name="scopes">Creates a scope for each attempt.</param>
/// <param name="endpoint">The endpoint whose handlers are called.</param>
/// <param name="timed">Measures the attempts of one worker; <see langword="null"/> if nothing is measured.</param>
internal sealed class MessagePipeline(IServiceScopeFactory scopes, BareEndpointBuilder endpoint, TimedReceiver? timed = null)
{
    public EndpointTelemetry Telemetry => endpoint.Telemetry;

    /// <summary>The same, for one worker.</summary>
    public MessagePipeline MeasuredBy(TimedReceiver worker) => new(scopes, endpoint, worker);

    /// <exception cref="UnreadableMessageException">No handler can handle the message.</exception>
    /// <exception cref="ServerRefusedException">
    /// The handler's database has refused it a connection, whatever the handler made of that, or the handler failed and its database has turned read-only.
    /// </exception>
    public Task HandleAsync(ReceivedMessage received, IWork work, CancellationToken cancellationToken) => timed is null
        ? InvokeAsync(received, work, cancellationToken)
        : timed.ProcessAsync(received.MessageId, received.Headers, () => InvokeAsync(received, work, cancellationToken));

    private async Task InvokeAsync(ReceivedMessage received, IWork work, CancellationToken cancellationToken)
    {
        if (!endpoint.Invokers.TryGetValue(TypeNames.WithoutVersions(received.Type), out var invoker))
        {
            throw new UnreadableMessageException(
                $"No handler for messages of type '{received.Type}'. This endpoint handles: {string.Join(", ", endpoint.Invokers.Keys)}.");
        }

        var message = invoker.Read(received.Body, endpoint.Json);
        var context = new MessageContext(work, endpoint.Json, endpoint.Telemetry)
        {
            MessageId = received.MessageId,
            Attempt = received.FailedAttempts + 1,
            Headers = received.Headers,
            Endpoint = endpoint.Name,
        };
        bool isWaitedFor;
        endpoint.Running.Begin(received);
        try
        {
            await using var scope = scopes.CreateAsyncScope();
            await invoker.InvokeAsync(scope.ServiceProvider, message, context, cancellationToken);
        }
        catch (Exception) when (work.Refusal is not null)
        {
            // Even if the handler wrapped it: see below.
        }
        catch (Exception failure) when (NpgsqlErrors.IsReadOnly(failure))
        {
            if (await endpoint.IsReadOnly(cancellationToken))
                throw new ServerRefusedException(failure);

            throw;
        }
        finally
        {
            context.End();
            isWaitedFor = endpoint.Running.End(received);
        }

        // Also if the handler has swallowed it: nothing else would fail, and the message would end without its rows.
        if (work.Refusal is { } refusal)
            throw new ServerRefusedException(refusal);

        // Where each statement has committed by itself, and the message has left the queue, there is nothing to roll back.
        if (!isWaitedFor && !work.SendsAtOnce)
            throw new OperationCanceledException($"The endpoint has stopped without waiting for the handler of message {received.MessageId}.");
    }
}
