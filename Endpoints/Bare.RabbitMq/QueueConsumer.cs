using RabbitMQ.Client;
using RabbitMQ.Client.Exceptions;

namespace Kit.Endpoints.Bare.RabbitMq;

/// <summary>A consumer that takes every message of a queue, without acknowledgements.</summary>
internal sealed class QueueConsumer : EndedConsumer, IAsyncDisposable
{
    private static readonly TimeSpan LongestEnd = TimeSpan.FromSeconds(10);

    private readonly Action<Guid, ReadOnlyMemory<byte>> take;
    private readonly Action<Exception> lose;
    private readonly TaskCompletionSource ended = new(TaskCreationOptions.RunContinuationsAsynchronously);
    private string consumerTag = "";

    private QueueConsumer(IChannel channel, Action<Guid, ReadOnlyMemory<byte>> take, Action<Exception> lose)
        : base(channel) => (this.take, this.lose) = (take, lose);

    public static async Task<QueueConsumer> OpenAsync(
        IConnection connection, string queue, Action<Guid, ReadOnlyMemory<byte>> take, Action<Exception> lose, CancellationToken cancellationToken)
    {
        var consumer = new QueueConsumer(await connection.CreateChannelAsync(cancellationToken: cancellationToken), take, lose);
        consumer.consumerTag = await consumer.Channel.BasicConsumeAsync(queue, autoAck: true, consumer, cancellationToken);
        return consumer;
    }

    public override Task HandleBasicDeliverAsync(
        string consumerTag, ulong deliveryTag, bool redelivered, string exchange, string routingKey, IReadOnlyBasicProperties properties,
        ReadOnlyMemory<byte> body, CancellationToken cancellationToken = default)
    {
        take(AmqpMessage.MessageIdOf(properties), body);
        return Task.CompletedTask;
    }

    public async ValueTask DisposeAsync()
    {
        try
        {
            await Channel.BasicCancelAsync(consumerTag);
            await ended.Task.WaitAsync(LongestEnd);
        }
        catch (Exception gone) when (gone is OperationInterruptedException or AlreadyClosedException or ObjectDisposedException or TimeoutException)
        {
            // Without a connection there is no consumer to cancel.
        }

        await Channel.DisposeAsync();
    }

    public override void Break(string reason)
    {
        if (ended.TrySetResult())
            lose(new BrokerException(reason));
    }

    protected override void Complete() => ended.TrySetResult();
}
