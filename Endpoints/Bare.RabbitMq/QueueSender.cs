using Kit.Endpoints.Bare.Outbox;
using RabbitMQ.Client.Exceptions;

namespace Kit.Endpoints.Bare.RabbitMq;

/// <summary>Publishes to queues of the broker, on its own connection, and waits until the broker has confirmed each message.</summary>
internal sealed class QueueSender : IOutboxSender
{
    private readonly SendingConnection connection;
    private readonly Publisher publisher;

    private QueueSender(SendingConnection connection, Publisher publisher)
    {
        this.connection = connection;
        this.publisher = publisher;
    }

    /// <summary>Whether it can still send.</summary>
    public bool IsOpen => connection.Connection.IsOpen;

    /// <param name="address">The broker.</param>
    /// <param name="name">The connection's name in the broker's own lists.</param>
    /// <param name="longestBlockage">How long a send waits while the broker blocks publishers; infinite: until it is cancelled.</param>
    /// <param name="cancellationToken">Ends the attempt.</param>
    /// <exception cref="BrokerException">The connection failed. The message says why.</exception>
    public static async Task<QueueSender> OpenAsync(RabbitMqAddress address, string name, TimeSpan longestBlockage, CancellationToken cancellationToken)
    {
        var opened = await SendingConnection.OpenAsync(address, name, longestBlockage, cancellationToken);
        return new QueueSender(opened, new Publisher(opened));
    }

    public async Task<Refusal?> SendAsync(OutgoingMessage message, CancellationToken cancellationToken)
    {
        try
        {
            await publisher.PublishAsync(message, cancellationToken);
            return null;
        }
        catch (BrokerException refused)
        {
            // A queue that is missing or full returns each message, and one without a majority of its members confirms none.
            return new Refusal(refused.Message, IsOfTheQueue: refused.InnerException is PublishException or TimeoutException);
        }
    }

    public async ValueTask DisposeAsync()
    {
        publisher.Dispose();
        await connection.DisposeAsync();
    }
}
