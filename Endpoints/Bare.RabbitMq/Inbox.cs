using System.Threading.Channels;
using RabbitMQ.Client;
using RabbitMQ.Client.Events;
using RabbitMQ.Client.Exceptions;

namespace Kit.Endpoints.Bare.RabbitMq;

/// <summary>
/// The one consumer of an endpoint: what the broker pushed and no worker has begun. It holds at most the prefetch count, except without
/// acknowledgements: then the broker knows no prefetch and pushes the whole backlog at once, and all of it lies here, out of the queue.
/// </summary>
internal sealed class Inbox : AsyncDefaultBasicConsumer, IAsyncDisposable
{
    private readonly Channel<Delivery> waiting = System.Threading.Channels.Channel.CreateUnbounded<Delivery>();
    private volatile bool ended;
    private string consumerTag = "";

    private Inbox(IChannel channel, bool isAcknowledged)
        : base(channel) => IsAcknowledged = isAcknowledged;

    /// <summary>Whether what lies here is out of the queue already.</summary>
    public bool IsAcknowledged { get; }

    /// <summary>Whether there is nothing more to begin: all of it was begun, or what was not belongs to the queue again.</summary>
    public bool IsFinished => IsAcknowledged ? waiting.Reader.Completion.IsCompleted : ended;

    public int Count => waiting.Reader.Count;

    public static async Task<Inbox> OpenAsync(IConnection connection, string queue, ushort prefetch, bool autoAcknowledge, CancellationToken cancellationToken)
    {
        var channel = await connection.CreateChannelAsync(cancellationToken: cancellationToken);
        var inbox = new Inbox(channel, autoAcknowledge);
        await channel.BasicQosAsync(prefetchSize: 0, prefetch, global: false, cancellationToken);
        inbox.consumerTag = await channel.BasicConsumeAsync(queue, autoAcknowledge, inbox, cancellationToken);
        return inbox;
    }

    /// <summary>The next delivery, or <see langword="null"/> when there is none within <paramref name="patience"/> or any more.</summary>
    /// <exception cref="BrokerException">The connection was lost or the queue deleted.</exception>
    public async Task<Delivery?> TakeAsync(TimeSpan patience)
    {
        if (IsFinished || !waiting.Reader.TryRead(out var delivery))
            return await WaitAsync(patience) && !IsFinished && waiting.Reader.TryRead(out delivery) ? delivery : null;

        return delivery;
    }

    /// <summary>Asks for no more. What was not begun goes back to the queue with the channel, unless it is acknowledged: then it is still given.</summary>
    public async Task EndAsync()
    {
        ended |= !IsAcknowledged;
        try
        {
            await Channel.BasicCancelAsync(consumerTag);
        }
        catch (Exception gone) when (gone is OperationInterruptedException or AlreadyClosedException or OperationCanceledException or ObjectDisposedException)
        {
            // No connection, no consumer.
            waiting.Writer.TryComplete();
        }
    }

    public override Task HandleBasicDeliverAsync(
        string consumerTag, ulong deliveryTag, bool redelivered, string exchange, string routingKey, IReadOnlyBasicProperties properties,
        ReadOnlyMemory<byte> body, CancellationToken cancellationToken = default)
    {
        waiting.Writer.TryWrite(new Delivery(Channel, deliveryTag, properties, body.ToArray(), redelivered));
        return Task.CompletedTask;
    }

    // After the deliveries that came before it, which the driver can still have when the broker has answered.
    public override Task HandleBasicCancelOkAsync(string consumerTag, CancellationToken cancellationToken = default)
    {
        waiting.Writer.TryComplete();
        return base.HandleBasicCancelOkAsync(consumerTag, cancellationToken);
    }

    public override Task HandleBasicCancelAsync(string consumerTag, CancellationToken cancellationToken = default)
    {
        Break("The broker ended the consumer: the queue was deleted or its node is down.");
        return base.HandleBasicCancelAsync(consumerTag, cancellationToken);
    }

    public override Task HandleChannelShutdownAsync(object channel, ShutdownEventArgs reason)
    {
        Break($"The connection to the broker was lost: {reason.ReplyText}.");
        return base.HandleChannelShutdownAsync(channel, reason);
    }

    public async ValueTask DisposeAsync() => await Channel.DisposeAsync();

    /// <summary>Ends the inbox because of a failure.</summary>
    public void Break(string reason)
    {
        ended = true;
        waiting.Writer.TryComplete(new BrokerException(reason));
    }

    private async Task<bool> WaitAsync(TimeSpan patience)
    {
        try
        {
            return await waiting.Reader.WaitToReadAsync().AsTask().WaitAsync(patience);
        }
        catch (TimeoutException)
        {
            return false;
        }
    }
}
