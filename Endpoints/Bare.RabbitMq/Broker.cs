using RabbitMQ.Client;
using RabbitMQ.Client.Exceptions;

namespace Kit.Endpoints.Bare.RabbitMq;

/// <summary>Opens connections to a broker, and says why if that fails.</summary>
internal static class Broker
{
    // Tracked: a publish completes when the broker has confirmed the message, and fails if the broker refuses it.
    private static readonly CreateChannelOptions Confirmed = new(publisherConfirmationsEnabled: true, publisherConfirmationTrackingEnabled: true);

    private static readonly TimeSpan ConfirmDeadline = TimeSpan.FromSeconds(30);

    /// <exception cref="BrokerException">The connection failed. The message says why.</exception>
    public static async Task<IConnection> ConnectAsync(RabbitMqAddress address, string name, CancellationToken cancellationToken)
    {
        try
        {
            return await OpenAsync(address, name, cancellationToken);
        }
        catch (BrokerUnreachableException unreachable)
            when (unreachable.InnerException is AuthenticationFailureException or PossibleAuthenticationFailureException)
        {
            throw new BrokerException($"The broker refuses this user or password: {address}.", unreachable);
        }
        catch (OperationInterruptedException refused)
        {
            throw new BrokerException($"The broker refuses this user access: {address}: {refused.ShutdownReason?.ReplyText}.", refused);
        }
        catch (BrokerUnreachableException unreachable)
        {
            throw new BrokerException($"No RabbitMQ broker answers: {address}: {unreachable.InnerException?.Message ?? unreachable.Message}", unreachable);
        }
    }

    public static Task<IChannel> OpenConfirmedChannelAsync(this IConnection connection, CancellationToken cancellationToken) =>
        connection.CreateChannelAsync(Confirmed, cancellationToken);

    /// <summary>Publishes a message to its queue, or an event to its exchange, and waits until all queues that it is for have it.</summary>
    /// <inheritdoc cref="PublishConfirmedAsync(IChannel, string, BasicProperties, byte[])" path="/exception"/>
    public static async Task PublishConfirmedAsync(this IChannel channel, OutgoingMessage message, EventExchanges exchanges)
    {
        var properties = AmqpMessage.PropertiesOf(message);
        if (!message.IsEvent)
        {
            await channel.PublishConfirmedAsync(message.Queue, properties, message.Body);
            return;
        }

        await exchanges.DeclareAsync(message.Type);
        await channel.PublishConfirmedAsync(
            message.Type, routingKey: "", properties, message.Body, $"subscribers of '{message.Type}'", $"No queue has subscribed to '{message.Type}'");
    }

    /// <summary>Publishes a message to a queue, on a channel with confirms, and waits for the confirmation.</summary>
    /// <exception cref="BrokerException">The queue does not exist, or the broker refuses the message or does not answer.</exception>
    public static Task PublishConfirmedAsync(this IChannel channel, string queue, BasicProperties properties, byte[] body) =>
        channel.PublishConfirmedAsync(exchange: "", queue, properties, body, $"queue '{queue}'", $"There is no queue '{queue}'");

    private static async Task PublishConfirmedAsync(
        this IChannel channel, string exchange, string routingKey, BasicProperties properties, byte[] body, string receiver, string unrouted)
    {
        try
        {
            // Mandatory: a message that no queue gets is returned, which fails the publish.
            await channel.BasicPublishAsync(exchange, routingKey, mandatory: true, properties, body).AsTask().WaitAsync(ConfirmDeadline);
        }
        catch (PublishException refused)
        {
            throw new BrokerException(refused.IsReturn ? $"{unrouted} (NO_ROUTE)." : $"The broker refused a message for {receiver}.", refused);
        }
        catch (ArgumentException unfit)
        {
            throw new BrokerException($"A message for {receiver} cannot be published: {unfit.Message}", unfit);
        }
        catch (TimeoutException late)
        {
            throw new BrokerException(
                $"The broker did not confirm a message for {receiver} within {ConfirmDeadline.TotalSeconds} s. " +
                "A memory or disk alarm blocks publishers.",
                late);
        }
    }

    // The endpoint reconnects itself: with the driver's recovery, workers would acknowledge deliveries of an earlier channel.
    private static async Task<IConnection> OpenAsync(RabbitMqAddress address, string name, CancellationToken cancellationToken)
    {
        var connection = await address.ConnectAsync(name, timeout: null, cancellationToken);
        try
        {
            // The driver does not wait for the broker's answer about the virtual host. Opening a first channel does.
            await using var channel = await connection.CreateChannelAsync(cancellationToken: cancellationToken);
            return connection;
        }
        catch
        {
            await connection.DisposeAsync();
            throw;
        }
    }

    /// <summary>Whether the broker answered that there is no such queue.</summary>
    public static bool IsNotFound(this OperationInterruptedException failure) => failure.ShutdownReason?.ReplyCode == 404;
}
