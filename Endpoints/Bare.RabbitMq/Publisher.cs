using RabbitMQ.Client;
using RabbitMQ.Client.Exceptions;

namespace Kit.Endpoints.Bare.RabbitMq;

/// <summary>
/// Publishes on one connection, and waits until the broker has confirmed each message. All that endpoints, senders and queues publish goes through here. The
/// broker closes the channel of a message that it refuses; the next one gets a new channel.
/// </summary>
/// <param name="sending">The connection. Nothing is acknowledged on it, because the broker may stop reading it.</param>
internal sealed class Publisher(SendingConnection sending) : IDisposable
{
    /// <summary>How long the senders wait that are not part of an endpoint.</summary>
    public static readonly TimeSpan LongestBlockageOfASender = TimeSpan.FromSeconds(30);

    // Of a frame: its own 8 bytes, the 12 before the properties, and what the driver adds to the headers (a number, and the trace context if one is recorded).
    private const int Overhead = 1_024;

    // Tracked: a publish completes when the broker has confirmed the message, and fails if the broker refuses it.
    private static readonly CreateChannelOptions Confirmed = new(publisherConfirmationsEnabled: true, publisherConfirmationTrackingEnabled: true);

    private readonly EventExchanges exchanges = new(sending.Connection);
    private readonly SemaphoreSlim opening = new(1);
    private volatile IChannel? channel;

    /// <summary>Whether its connection is.</summary>
    public bool IsOpen => sending.Connection.IsOpen;

    /// <summary>How long the broker may take to confirm a message while it does not block the connection.</summary>
    public TimeSpan ConfirmDeadline { get; init; } = TimeSpan.FromSeconds(30);

    /// <summary>Publishes a message to its queue, or an event to its exchange, and waits until all queues that it is for have it.</summary>
    /// <inheritdoc cref="PublishAsync(string, BasicProperties, ReadOnlyMemory{byte}, CancellationToken)" path="/exception"/>
    public async Task PublishAsync(OutgoingMessage message, CancellationToken cancellationToken)
    {
        var properties = AmqpMessage.PropertiesOf(message);
        if (!message.IsEvent)
        {
            await PublishAsync(message.Queue, properties, message.Body, cancellationToken);
            return;
        }

        var subscribers = $"subscribers of '{message.Type}'";
        await UnblockedAsync(subscribers, cancellationToken);
        try
        {
            await AnsweredAsync(exchanges.DeclareAsync(message.Type), cancellationToken);
            await PublishAsync(
                message.Type, routingKey: "", properties, message.Body, subscribers, $"No queue has subscribed to '{message.Type}'", cancellationToken);
        }
        catch (BrokerException refused) when (refused.InnerException is OperationInterruptedException)
        {
            // Perhaps somebody has deleted the exchange.
            exchanges.Forget(message.Type);
            throw;
        }
        catch (TimeoutException late)
        {
            throw Unanswered(subscribers, late);
        }
    }

    /// <summary>Publishes a message to a queue, and waits for the confirmation.</summary>
    /// <param name="queue">The queue.</param>
    /// <param name="properties">The properties. The driver adds headers.</param>
    /// <param name="body">The body.</param>
    /// <param name="cancellationToken">Ends the wait for a connection that is blocked. The message may arrive all the same.</param>
    /// <exception cref="BrokerException">The queue does not exist, or the broker refuses the message or does not answer.</exception>
    /// <exception cref="AlreadyClosedException">The connection is lost.</exception>
    public Task PublishAsync(string queue, BasicProperties properties, ReadOnlyMemory<byte> body, CancellationToken cancellationToken) =>
        PublishAsync(exchange: "", queue, properties, body, $"queue '{queue}'", $"There is no queue '{queue}'", cancellationToken);

    /// <summary>Its channel ends with the connection.</summary>
    public void Dispose() => opening.Dispose();

    private async Task PublishAsync(
        string exchange, string routingKey, BasicProperties properties, ReadOnlyMemory<byte> body, string receiver, string unrouted,
        CancellationToken cancellationToken)
    {
        await UnblockedAsync(receiver, cancellationToken);
        try
        {
            RequireRoom(properties, receiver);
            var open = await OpenAsync(cancellationToken);
            // Mandatory: a message that no queue gets is returned, which fails the publish.
            var publish = open.BasicPublishAsync(exchange, routingKey, mandatory: true, properties, body, CancellationToken.None).AsTask();
            await AnsweredAsync(publish, cancellationToken);
        }
        catch (PublishException refused)
        {
            throw new BrokerException(refused.IsReturn ? $"{unrouted} (NO_ROUTE)." : $"The broker refused a message for {receiver}.", refused)
            {
                IsRefusal = !refused.IsReturn,
            };
        }
        catch (Exception unfit) when (unfit is ArgumentException or WireFormattingException)
        {
            throw new BrokerException($"A message for {receiver} cannot be published: {unfit.Message}", unfit) { IsOfTheMessage = true };
        }
        catch (OperationInterruptedException closed) when (sending.Connection.IsOpen)
        {
            throw new BrokerException($"The broker refused a message for {receiver}: {closed.ShutdownReason?.ReplyText ?? closed.Message}.", closed)
            {
                IsOfTheMessage = closed.ShutdownReason?.ReplyCode == Constants.PreconditionFailed,
            };
        }
        catch (TimeoutException late)
        {
            throw Unanswered(receiver, late);
        }
    }

    private BrokerException Unanswered(string receiver, TimeoutException late) => new(
        $"The broker did not confirm a message for {receiver} within {ConfirmDeadline.TotalSeconds} s, and it may still arrive. " +
        "A memory or disk alarm blocks publishers.",
        late);

    private async Task UnblockedAsync(string receiver, CancellationToken cancellationToken)
    {
        try
        {
            await sending.Unblocked.WaitAsync(sending.LongestBlockage, cancellationToken);
        }
        catch (TimeoutException late)
        {
            throw new BrokerException(
                $"A message for {receiver} was not sent: the broker has blocked publishers for longer than {sending.LongestBlockage.TotalSeconds} s " +
                $"({sending.Reason}). Remove the cause of its memory or disk alarm.",
                late);
        }
    }

    /// <summary>Waits for the broker's answer. It does not count the time in which the broker does not read the connection.</summary>
    private async Task AnsweredAsync(Task answer, CancellationToken cancellationToken)
    {
        while (await Task.WhenAny(answer, sending.Blocked).WaitAsync(ConfirmDeadline, CancellationToken.None) != answer)
            await Task.WhenAny(answer, sending.Unblocked).WaitAsync(sending.LongestBlockage, cancellationToken);

        await answer;
    }

    /// <summary>Properties are not split into several frames. The broker closes the connection if they exceed one.</summary>
    /// <exception cref="BrokerException">They are too long.</exception>
    /// <exception cref="WireFormattingException">A header has a type that AMQP does not have.</exception>
    private void RequireRoom(BasicProperties properties, string receiver)
    {
        var size = ((IAmqpWriteable)properties).GetRequiredBufferSize();
        if (sending.Connection.FrameMax > 0 && size + Overhead > sending.Connection.FrameMax)
        {
            throw new BrokerException(
                $"A message for {receiver} cannot be published: its headers and properties have {size} bytes, and at most " +
                $"{sending.Connection.FrameMax - Overhead} fit into a frame. Put long values into the message's body.")
            {
                IsOfTheMessage = true,
            };
        }
    }

    private async ValueTask<IChannel> OpenAsync(CancellationToken cancellationToken)
    {
        if (channel is { IsOpen: true } open)
            return open;

        await opening.WaitAsync(CancellationToken.None);
        try
        {
            if (channel is { IsOpen: true } opened)
                return opened;

            if (channel is not null)
                await channel.DisposeAsync();

            var answer = sending.Connection.CreateChannelAsync(Confirmed, CancellationToken.None);
            await AnsweredAsync(answer, cancellationToken);
            return channel = await answer;
        }
        finally
        {
            opening.Release();
        }
    }
}
