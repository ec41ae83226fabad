using System.Diagnostics;
using System.Text;
using Kit.Endpoints.Bare.RabbitMq;
using Kit.Runner.Results;
using RabbitMQ.Client;
using RabbitMQ.Client.Events;
using RabbitMQ.Client.Exceptions;

namespace Kit.Runner.Servers;

/// <summary>The queues of one virtual host, as a tester sees them: messages are put in, counted and taken out. Not thread-safe.</summary>
public sealed class BrokerQueues : IAsyncDisposable
{
    /// <summary>Time in which a broker notices that a process is dead.</summary>
    public static readonly TimeSpan ToForget = TimeSpan.FromSeconds(20);

    private const string Forwarded = "x-death";

    private static readonly TimeSpan Look = TimeSpan.FromMilliseconds(20);

    private readonly IConnection connection;
    private readonly ManagementApi management;
    private IChannel channel;

    private BrokerQueues(IConnection connection, IChannel channel, ManagementApi management) =>
        (this.connection, this.channel, this.management) = (connection, channel, management);

    /// <exception cref="BrokerUnreachableException">The broker does not answer.</exception>
    public static async Task<BrokerQueues> OpenAsync(RabbitMqAddress address, CancellationToken cancellationToken)
    {
        var opened = await address.ConnectAsync("comparison kit, proof", RabbitMqFacts.Timeout, cancellationToken);
        return new BrokerQueues(opened, await OpenChannelAsync(opened, cancellationToken), new ManagementApi(address));
    }

    /// <summary>
    /// Waits until some queues have no consumer. A broker notices a while later that a process is dead, and what it sends to that process in the
    /// meantime is lost if the process acknowledges nothing.
    /// </summary>
    /// <param name="queues">A queue that is not there has no consumer.</param>
    /// <exception cref="KitException">A queue still has a consumer after <see cref="ToForget"/>.</exception>
    /// <exception cref="BrokerUnreachableException">The broker does not answer.</exception>
    public static async Task WaitForNoConsumerAsync(RabbitMqAddress address, IEnumerable<string> queues, CancellationToken cancellationToken)
    {
        await using var own = await address.ConnectAsync("comparison kit, consumers", RabbitMqFacts.Timeout, cancellationToken);
        var watch = Stopwatch.StartNew();
        foreach (var queue in queues)
        {
            for (; await CountConsumersAsync(own, queue, cancellationToken) > 0; await Task.Delay(Look, cancellationToken))
            {
                if (watch.Elapsed > ToForget)
                {
                    throw new KitException(
                        $"{ToForget.TotalSeconds} s after its process had ended, the queue '{queue}' still has a consumer.",
                        "A process that survived the kill, or another program, receives from it: end it.");
                }
            }
        }
    }

    /// <summary>Creates a durable classic queue.</summary>
    public Task CreateAsync(string queue, CancellationToken cancellationToken) =>
        channel.QueueDeclareAsync(queue, durable: true, exclusive: false, autoDelete: false, cancellationToken: cancellationToken);

    /// <summary>Sends a persistent message to a queue, and waits until the broker has confirmed it.</summary>
    /// <exception cref="KitException">There is no such queue, or the broker refuses the message.</exception>
    public async Task SendAsync(
        string queue, Guid message, string body, string contentType, IReadOnlyDictionary<string, string> headers, CancellationToken cancellationToken)
    {
        var properties = new BasicProperties
        {
            MessageId = $"{message}",
            ContentType = contentType,
            Persistent = true,
            Headers = headers.ToDictionary(header => header.Key, object? (header) => header.Value),
        };
        try
        {
            await channel.BasicPublishAsync(
                exchange: "", routingKey: queue, mandatory: true, properties, Encoding.UTF8.GetBytes(body), cancellationToken);
        }
        catch (PublishException refused) when (!refused.IsReturn)
        {
            throw new KitException(
                $"The broker refused a message for the queue '{queue}'.",
                "Its policy or its arguments limit its length (x-overflow reject-publish); or look into the broker's log.", refused);
        }
        catch (PublishException returned)
        {
            throw new KitException(
                $"There is no queue '{queue}'.", "The application has to create it; or name it in \"queues\", and the kit creates it.", returned);
        }
    }

    /// <summary>Takes every message out of a queue. It cannot be cancelled: the broker would have forgotten a message that nobody has.</summary>
    /// <param name="taken">Receives the body, the message id and the correlation id of each, as one text.</param>
    /// <param name="published">Receives the exchange and the routing key of each publish. Of a dead letter the broker gives others.</param>
    /// <returns>False: there is no such queue.</returns>
    public async Task<bool> TakeAsync(string queue, ICollection<string> taken, ICollection<(string Exchange, string RoutingKey)> published)
    {
        try
        {
            while (await channel.BasicGetAsync(queue, autoAck: true, CancellationToken.None) is { } message)
            {
                taken.Add(TextOf(message.Body, message.BasicProperties));
                if (message.BasicProperties.Headers?.ContainsKey(Forwarded) is not true)
                    published.Add((message.Exchange, message.RoutingKey));
            }

            return true;
        }
        catch (OperationInterruptedException absent) when (absent.ShutdownReason?.ReplyCode == Constants.NotFound)
        {
            // The broker has closed the channel.
            await channel.DisposeAsync();
            channel = await OpenChannelAsync(connection, CancellationToken.None);
            return false;
        }
    }

    /// <summary>Receives every message of a queue as it comes, until this is disposed.</summary>
    /// <param name="take">Receives the texts of <see cref="TakeAsync"/>, one at a time.</param>
    /// <returns>False: there is no such queue.</returns>
    public async Task<bool> ListenAsync(string queue, Action<string> take, CancellationToken cancellationToken)
    {
        var listening = await connection.CreateChannelAsync(cancellationToken: cancellationToken);
        try
        {
            var consumer = new AsyncEventingBasicConsumer(listening);
            consumer.ReceivedAsync += (_, message) =>
            {
                take(TextOf(message.Body, message.BasicProperties));
                return Task.CompletedTask;
            };
            await listening.BasicConsumeAsync(queue, autoAck: true, consumer, cancellationToken);
            return true;
        }
        catch (OperationInterruptedException absent) when (absent.ShutdownReason?.ReplyCode == Constants.NotFound)
        {
            await listening.DisposeAsync();
            return false;
        }
    }

    /// <summary>A queue at this moment; <see langword="null"/>: there is no such queue, or it belongs to another connection.</summary>
    /// <exception cref="BrokerException">The management plugin does not answer.</exception>
    public async Task<LookedAtQueue?> LookAsync(string queue, CancellationToken cancellationToken)
    {
        var all = (await CountAsync(cancellationToken)).GetValueOrDefault(queue);
        // The broker closes the channel if it refuses.
        await using var question = await connection.CreateChannelAsync(cancellationToken: cancellationToken);
        try
        {
            var declared = await question.QueueDeclarePassiveAsync(queue, cancellationToken);
            return new LookedAtQueue(declared.MessageCount, Math.Max(0, all - declared.MessageCount), declared.ConsumerCount);
        }
        catch (OperationInterruptedException refused) when (refused.ShutdownReason?.ReplyCode is Constants.NotFound or Constants.ResourceLocked)
        {
            return null;
        }
    }

    /// <summary>The ready and unacknowledged messages of every queue.</summary>
    /// <exception cref="BrokerException">The management plugin does not answer.</exception>
    public Task<IReadOnlyDictionary<string, long>> CountAsync(CancellationToken cancellationToken) => management.CountAsync("", cancellationToken);

    public async ValueTask DisposeAsync()
    {
        management.Dispose();
        await channel.DisposeAsync();
        await connection.DisposeAsync();
    }

    private static string TextOf(ReadOnlyMemory<byte> body, IReadOnlyBasicProperties properties) =>
        $"{Encoding.UTF8.GetString(body.Span)} {properties.MessageId} {properties.CorrelationId}";

    private static async Task<uint> CountConsumersAsync(IConnection asker, string queue, CancellationToken cancellationToken)
    {
        // The broker closes the channel if there is no such queue.
        await using var question = await asker.CreateChannelAsync(cancellationToken: cancellationToken);
        try
        {
            return (await question.QueueDeclarePassiveAsync(queue, cancellationToken)).ConsumerCount;
        }
        catch (OperationInterruptedException absent) when (absent.ShutdownReason?.ReplyCode == Constants.NotFound)
        {
            return 0;
        }
        catch (OperationInterruptedException exclusive) when (exclusive.ShutdownReason?.ReplyCode == Constants.ResourceLocked)
        {
            // It belongs to the connection of the dead process, and goes with it.
            return 1;
        }
    }

    private static Task<IChannel> OpenChannelAsync(IConnection connection, CancellationToken cancellationToken) => connection.CreateChannelAsync(
        new CreateChannelOptions(publisherConfirmationsEnabled: true, publisherConfirmationTrackingEnabled: true), cancellationToken);
}

/// <summary>A queue at a moment.</summary>
/// <param name="Unacknowledged">Messages that a consumer has, and has not acknowledged.</param>
public readonly record struct LookedAtQueue(long Ready, long Unacknowledged, long Consumers);
