using System.Data.Common;
using System.Text.Json;

namespace Kit.Endpoints.Bare.RabbitMq;

/// <summary>Sends to a broker, one message at a time, with confirms. It connects for the first message, and again after a connection was lost.</summary>
internal sealed class RabbitMqMessageSender(RabbitMqAddress broker, JsonSerializerOptions? json)
    : MessageSender(RabbitMqEndpoint.MessagingSystem, json), IAsyncDisposable
{
    private readonly SemaphoreSlim one = new(1, 1);
    private QueueSender? sender;

    public async ValueTask DisposeAsync()
    {
        await one.WaitAsync();
        await CloseAsync();
        one.Dispose();
    }

    protected override async Task SendAsync(OutgoingMessage message, DbTransaction? transaction, CancellationToken cancellationToken)
    {
        if (transaction is not null)
        {
            throw new NotSupportedException(
                "RabbitMQ cannot take part in a database transaction. Send after it has committed, or send from a handler in mode outbox.");
        }

        await one.WaitAsync(cancellationToken);
        try
        {
            if (await (await ConnectAsync(cancellationToken)).SendAsync(message, cancellationToken) is { } refusal)
                throw new BrokerException(refusal.Reason);
        }
        finally
        {
            one.Release();
        }
    }

    private async Task<QueueSender> ConnectAsync(CancellationToken cancellationToken)
    {
        if (sender is { IsOpen: true })
            return sender;

        await CloseAsync();
        return sender = await QueueSender.OpenAsync(broker, "message sender", Publisher.LongestBlockageOfASender, cancellationToken);
    }

    private async Task CloseAsync()
    {
        var lost = sender;
        sender = null;
        try
        {
            if (lost is not null)
                await lost.DisposeAsync();
        }
        catch (Exception gone) when (gone is not OutOfMemoryException)
        {
            // Closing a lost connection can fail too, and there is nothing left to close.
        }
    }
}
