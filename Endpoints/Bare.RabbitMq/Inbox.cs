using System.Threading.Channels;
using RabbitMQ.Client;
using RabbitMQ.Client.Exceptions;

namespace Kit.Endpoints.Bare.RabbitMq;

/// <summary>
/// The one consumer of an endpoint. It holds the messages that the broker has pushed and no worker has begun: at most the prefetch count. Without
/// acknowledgements there is no prefetch: the broker pushes the whole backlog at once, and all of it is here and no longer in the queue.
/// </summary>
internal sealed class Inbox : EndedConsumer, IAsyncDisposable
{
    private readonly Channel<Delivery> waiting = System.Threading.Channels.Channel.CreateUnbounded<Delivery>();
    private volatile bool ended;
    private string consumerTag = "";

    private Inbox(IChannel channel, bool isAcknowledged)
        : base(channel) => IsAcknowledged = isAcknowledged;

    /// <summary>Whether the messages here have already left the queue.</summary>
    public bool IsAcknowledged { get; }

    /// <summary>Whether there is nothing more to begin: every message was begun, or belongs to the queue again.</summary>
    public bool IsFinished => IsAcknowledged ? waiting.Reader.Completion.IsCompleted : ended;

    public int Count => waiting.Reader.Count;

    /// <summary>The first failure that ended it; <see langword="null"/> if none did. Who does not wait for a delivery is not told otherwise.</summary>
    public string? Failure { get; private set; }

    public static async Task<Inbox> OpenAsync(IConnection connection, string queue, ushort prefetch, bool autoAcknowledge, CancellationToken cancellationToken)
    {
        var channel = await connection.CreateChannelAsync(cancellationToken: cancellationToken);
        var inbox = new Inbox(channel, autoAcknowledge);
        await channel.BasicQosAsync(prefetchSize: 0, prefetch, global: false, cancellationToken);
        inbox.consumerTag = await channel.BasicConsumeAsync(queue, autoAcknowledge, inbox, cancellationToken);
        return inbox;
    }

    /// <summary>Takes the next delivery; <see langword="null"/> if none arrives within <paramref name="patience"/>, or none will.</summary>
    /// <exception cref="BrokerException">The connection was lost or the queue deleted.</exception>
    public async Task<Delivery?> TakeAsync(TimeSpan patience)
    {
        if (IsFinished || !waiting.Reader.TryRead(out var delivery))
            return await WaitAsync(patience) && !IsFinished && waiting.Reader.TryRead(out delivery) ? delivery : null;

        return delivery;
    }

    /// <summary>
    /// Stops consuming. When the channel closes, messages that were not begun go back to the queue. If they have already left the queue, they can
    /// still be taken.
    /// </summary>
    public async Task EndAsync()
    {
        ended |= !IsAcknowledged;
        try
        {
            await Channel.BasicCancelAsync(consumerTag);
        }
        catch (Exception gone) when (gone is OperationInterruptedException or AlreadyClosedException or OperationCanceledException or ObjectDisposedException)
        {
            // Without a connection there is no consumer to cancel.
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

    public async ValueTask DisposeAsync() => await Channel.DisposeAsync();

    public override void Break(string reason)
    {
        Failure ??= reason;
        ended = true;
        waiting.Writer.TryComplete(new BrokerException(reason));
    }

    protected override void Complete() => waiting.Writer.TryComplete();

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
