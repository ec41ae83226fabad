using System.Text;
using System.Text.Json;
using Microsoft.Extensions.DependencyInjection;

namespace Kit.Endpoints.Bare;

/// <summary>Calls the handler of one message type.</summary>
internal interface IHandlerInvoker
{
    /// <exception cref="UnreadableMessageException">The body is not a message of that type.</exception>
    object Read(byte[] body, JsonSerializerOptions? json);

    Task InvokeAsync(IServiceProvider services, object message, MessageContext context, CancellationToken cancellationToken);
}

internal sealed class HandlerInvoker<TMessage, THandler> : IHandlerInvoker
    where TMessage : notnull
    where THandler : class, IMessageHandler<TMessage>
{
    public object Read(byte[] body, JsonSerializerOptions? json)
    {
        try
        {
            // The serializer refuses a byte order mark, which other senders write (RFC 8259, section 8.1, lets a reader ignore it).
            var text = body.AsSpan();
            if (text.StartsWith(Encoding.UTF8.Preamble))
                text = text[Encoding.UTF8.Preamble.Length..];

            return JsonSerializer.Deserialize<TMessage>(text, json) ?? throw new UnreadableMessageException("The body is the JSON value null.");
        }
        catch (Exception unreadable) when (unreadable is JsonException or NotSupportedException)
        {
            throw new UnreadableMessageException($"The body is not a {typeof(TMessage).Name} in JSON: {unreadable.Message}", unreadable);
        }
    }

    public async Task InvokeAsync(IServiceProvider services, object message, MessageContext context, CancellationToken cancellationToken)
    {
        if (services.GetService<THandler>() is { } registered)
        {
            await registered.HandleAsync((TMessage)message, context, cancellationToken);
            return;
        }

        // It is not registered, so nobody else disposes it.
        var handler = ActivatorUtilities.CreateInstance<THandler>(services);
        try
        {
            await handler.HandleAsync((TMessage)message, context, cancellationToken);
        }
        finally
        {
            await DisposeAsync(handler);
        }
    }

    private static async ValueTask DisposeAsync(THandler handler)
    {
        if (handler is IAsyncDisposable asynchronous)
            await asynchronous.DisposeAsync();
        else if (handler is IDisposable disposable)
            disposable.Dispose();
    }
}
