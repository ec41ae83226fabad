using Kit.Endpoints.Bare.Outbox;
using RabbitMQ.Client;
using RabbitMQ.Client.Exceptions;

namespace Kit.Endpoints.Bare.RabbitMq;

/// <summary>Publishes to queues of the broker, on its own connection, and waits until the broker has confirmed each message.</summary>
internal sealed class QueueSender : IOutboxSender
{
    private readonly IConnection connection;
    private readonly IChannel channel;
    private readonly EventExchanges exchanges;

    private QueueSender(IConnection connection, IChannel channel)
    {
        this.connection = connection;
        this.channel = channel;
        exchanges = new EventExchanges(connection);
    }

    /// <summary>Whether it can still send.</summary>
    public bool IsOpen => channel.IsOpen;

    /// <exception cref="BrokerException">The connection failed. The message says why.</exception>
    public static async Task<QueueSender> OpenAsync(RabbitMqAddress address, string name, CancellationToken cancellationToken)
    {
        var opened = await Broker.ConnectAsync(address, name, cancellationToken);
        try
        {
            return new QueueSender(opened, await opened.OpenConfirmedChannelAsync(cancellationToken));
        }
        catch
        {
            await opened.DisposeAsync();
            throw;
        }
    }

    public async Task<string?> SendAsync(OutgoingMessage message)
    {
        try
        {
            await channel.PublishConfirmedAsync(message, exchanges);
            return null;
        }
        catch (BrokerException refused) when (refused.InnerException is PublishException or TimeoutException or ArgumentException)
        {
            return refused.Message;
        }
    }

    public async ValueTask DisposeAsync()
    {
        await channel.DisposeAsync();
        await connection.DisposeAsync();
    }
}
