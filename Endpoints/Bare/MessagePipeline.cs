using System.Text.Json;
using Microsoft.Extensions.DependencyInjection;

namespace Kit.Endpoints.Bare;

/// <summary>From a received body to the handler's call, the same in every mode.</summary>
internal sealed class MessagePipeline(IServiceScopeFactory scopes, IReadOnlyDictionary<string, IHandlerInvoker> invokers)
{
    /// <exception cref="UnreadableMessageException">There is nothing that could handle the message.</exception>
    /// <exception cref="ServerRefusedException">The handler failed, and its database had refused it a connection.</exception>
    public async Task HandleAsync(ReceivedMessage received, IWork work, CancellationToken cancellationToken)
    {
        if (!invokers.TryGetValue(received.Type, out var invoker))
            throw new UnreadableMessageException($"No handler for messages of type '{received.Type}'. Handled here: {string.Join(", ", invokers.Keys)}.");

        var message = invoker.Read(received.Body);
        var context = new MessageContext(received.MessageId, received.FailedAttempts + 1, work);
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

internal interface IHandlerInvoker
{
    object Read(byte[] body);

    Task InvokeAsync(IServiceProvider services, object message, MessageContext context, CancellationToken cancellationToken);
}

internal sealed class HandlerInvoker<TMessage, THandler> : IHandlerInvoker
    where TMessage : notnull
    where THandler : class, IMessageHandler<TMessage>
{
    public object Read(byte[] body)
    {
        try
        {
            return JsonSerializer.Deserialize<TMessage>(body) ?? throw new UnreadableMessageException("The body is the JSON value null.");
        }
        catch (Exception unreadable) when (unreadable is JsonException or NotSupportedException)
        {
            throw new UnreadableMessageException($"The body is not a {typeof(TMessage).Name} in JSON: {unreadable.Message}", unreadable);
        }
    }

    public Task InvokeAsync(IServiceProvider services, object message, MessageContext context, CancellationToken cancellationToken) =>
        services.GetRequiredService<THandler>().HandleAsync((TMessage)message, context, cancellationToken);
}
