using Microsoft.Extensions.Logging.Abstractions;
using RabbitMQ.Client;
using RabbitMQ.Client.Exceptions;

namespace Kit.Endpoints.Bare.RabbitMq;

/// <summary>Creates, fills, counts and drops a queue, whether or not its endpoint runs.</summary>
/// <exception cref="BrokerException">Every member: the broker cannot be reached or refused.</exception>
/// <param name="address">The broker.</param>
/// <param name="name">The queue's name.</param>
/// <param name="type">How the broker keeps it.</param>
/// <param name="hasRetries">Whether it has the two queues next to it that bare endpoints use; other frameworks have their own.</param>
/// <param name="errors">Where a framework puts what it gives up that names its error queue itself; else <see cref="Modes.ErrorQueue"/> names it.</param>
public sealed class RabbitMqQueue(
    RabbitMqAddress address, string name, QueueType type = QueueType.Classic, bool hasRetries = true, string? errors = null) : IReturningQueue
{
    private const int PublishBatch = 100;

    // A quorum queue tells its totals every 5 s: rabbit's quorum_tick_interval.
    private static readonly TimeSpan QuorumTick = TimeSpan.FromSeconds(8);
    private static readonly TimeSpan ConfirmDeadline = TimeSpan.FromSeconds(30);

    private readonly QueueNames names = new(name, type, hasRetries, errors);
    private readonly ManagementApi management = new(address);
    private readonly SemaphoreSlim opening = new(1);
    private IConnection? connection;

    public string Name => name;

    /// <summary>
    /// Creates it where it is not there. One that is there is left as it is; an endpoint says at its start what is wrong with it.
    /// </summary>
    /// <exception cref="BrokerException">It is there and of another type.</exception>
    public async Task CreateAsync(CancellationToken cancellationToken) =>
        await new QueueCheck(names, address, NullLogger.Instance).RunAsync(await ConnectAsync(cancellationToken), cancellationToken);

    /// <summary>Declares it as a framework does that knows no other queue than one with its own arguments.</summary>
    /// <exception cref="BrokerException">It is there with other arguments.</exception>
    public async Task DeclareAsync(IReadOnlyDictionary<string, object?> arguments, CancellationToken cancellationToken) =>
        await (await ConnectAsync(cancellationToken)).DeclareQueueAsync(name, type, arguments, cancellationToken);

    public async Task DropAsync(CancellationToken cancellationToken)
    {
        await using var channel = await OpenChannelAsync(cancellationToken);
        foreach (var queue in names.All)
            await channel.QueueDeleteAsync(queue, ifUnused: false, ifEmpty: false, cancellationToken: cancellationToken);
    }

    /// <summary>Makes an exchange of the queue's own name that leads to it, which is what MassTransit sends to.</summary>
    public async Task BindExchangeAsync(CancellationToken cancellationToken)
    {
        await using var channel = await OpenChannelAsync(cancellationToken);
        await channel.ExchangeDeclareAsync(name, ExchangeType.Fanout, durable: true, autoDelete: false, cancellationToken: cancellationToken);
        await channel.QueueBindAsync(name, name, routingKey: "", cancellationToken: cancellationToken);
    }

    /// <summary>Adds persistent messages; each has been confirmed by the broker when this returns.</summary>
    public async Task EnqueueAsync(IEnumerable<OutgoingMessage> messages, CancellationToken cancellationToken)
    {
        await using var channel = await (await ConnectAsync(cancellationToken)).OpenConfirmedChannelAsync(cancellationToken);
        foreach (var batch in messages.Chunk(PublishBatch))
        {
            var publishes = batch.Select(message => channel.BasicPublishAsync(
                exchange: "", message.Queue, mandatory: true, AmqpMessage.PropertiesOf(message), message.Body, cancellationToken).AsTask());
            try
            {
                await Task.WhenAll(publishes).WaitAsync(ConfirmDeadline, cancellationToken);
            }
            catch (TimeoutException late)
            {
                throw new BrokerException(
                    $"The broker did not confirm messages for '{name}' within {ConfirmDeadline.TotalSeconds} s. A memory or disk alarm blocks publishers.",
                    late);
            }
        }
    }

    /// <summary>
    /// How many messages lie in the queue and among those that are tried again, those included that are being handled, as the broker counts them.
    /// </summary>
    /// <remarks>
    /// Ready and unacknowledged, by the management plugin: AMQP itself tells only the ready ones. For a quorum queue that has consumers, and whose totals
    /// are old, an answer of 0 is asked for again after they must have been renewed.
    /// </remarks>
    public async Task<long> CountAsync(CancellationToken cancellationToken)
    {
        // The plugin asks one queue after another: what moves between them in that time can be in neither, once.
        if (type is QueueType.Classic)
            return await CountByPluginAsync(cancellationToken) is > 0 and var count ? count : await CountByPluginAsync(cancellationToken);

        // The ready ones are told at once, and where nobody consumes there are no others.
        var (ready, consumers) = await CountReadyAsync(cancellationToken);
        if (ready > 0 || consumers == 0)
            return ready;

        await Task.Delay(QuorumTick, cancellationToken);
        return Math.Max(await CountByPluginAsync(cancellationToken), (await CountReadyAsync(cancellationToken)).Ready);
    }

    /// <summary>The ids of the messages that are ready in the queue, in its order. Reading marks them redelivered.</summary>
    public async Task<IReadOnlyList<Guid>> ReadMessagesAsync(CancellationToken cancellationToken) =>
    [
        .. (await ReadAsync(names.Queue, cancellationToken)).Select(message => AmqpMessage.MessageIdOf(message.BasicProperties)),
        .. (await ReadAsync(names.Retries, cancellationToken)).Select(message => AmqpMessage.MessageIdOf(message.BasicProperties)),
    ];

    public async Task<bool> ExistsAsync(CancellationToken cancellationToken)
    {
        await using var channel = await OpenChannelAsync(cancellationToken);
        try
        {
            await channel.QueueDeclarePassiveAsync(names.Queue, cancellationToken);
            return true;
        }
        catch (OperationInterruptedException none) when (none.IsNotFound())
        {
            return false;
        }
    }

    /// <summary>The messages that were given up, in the order of failing. Reading marks them redelivered.</summary>
    public async Task<IReadOnlyList<DeadLetter>> ReadErrorsAsync(CancellationToken cancellationToken) =>
        [.. (await ReadErrorPropertiesAsync(cancellationToken)).Select(DeadLetterOf)];

    /// <inheritdoc/>
    /// <remarks>
    /// The broker confirms each in the queue before it is acknowledged among the errors: none is lost. A crash between the two doubles those
    /// that were under way, at most 100. When it is cancelled, those that were returned by then stay returned.
    /// </remarks>
    public async Task<IReadOnlyList<Guid>> ReturnErrorsAsync(IReadOnlyCollection<Guid>? messageIds, CancellationToken cancellationToken)
    {
        var broker = await ConnectAsync(cancellationToken);
        await using var taking = await broker.CreateChannelAsync(cancellationToken: cancellationToken);
        await using var returning = await broker.OpenConfirmedChannelAsync(cancellationToken);
        return await new ErrorReturn(names, taking, returning).RunAsync(messageIds, cancellationToken);
    }

    /// <summary>Why the broker, and no endpoint, put a message of the error queue there; empty where an endpoint did.</summary>
    public static string BrokersReasonOf(IReadOnlyBasicProperties properties)
    {
        ArgumentNullException.ThrowIfNull(properties);
        return AmqpMessage.BrokersReasonOf(properties);
    }

    /// <summary>What the messages of the error queue carry as well as their bodies.</summary>
    public async Task<IReadOnlyList<IReadOnlyBasicProperties>> ReadErrorPropertiesAsync(CancellationToken cancellationToken) =>
        [.. (await ReadAsync(names.Errors, cancellationToken)).Select(message => message.BasicProperties)];

    /// <summary>The bytes of the first message's body, or <see langword="null"/> without one. Reading marks it redelivered.</summary>
    public async Task<int?> ReadBodySizeAsync(CancellationToken cancellationToken)
    {
        await using var channel = await OpenChannelAsync(cancellationToken);
        return (await channel.BasicGetAsync(names.Queue, autoAck: false, cancellationToken))?.Body.Length;
    }

    public async ValueTask DisposeAsync()
    {
        management.Dispose();
        opening.Dispose();
        if (connection is not null)
            await connection.DisposeAsync();
    }

    private static DeadLetter DeadLetterOf(IReadOnlyBasicProperties properties) =>
        new(AmqpMessage.MessageIdOf(properties), AmqpMessage.FailedAttemptsOf(properties), AmqpMessage.ReasonOf(properties))
        {
            Type = properties.Type ?? "",
            FailedAt = AmqpMessage.FailedAtOf(properties),
        };

    private async Task<(long Ready, long Consumers)> CountReadyAsync(CancellationToken cancellationToken)
    {
        await using var channel = await OpenChannelAsync(cancellationToken);
        var (ready, consumers) = (0L, 0L);
        foreach (var queue in hasRetries ? new[] { names.Queue, names.Retries } : [names.Queue])
        {
            var state = await channel.QueueDeclarePassiveAsync(queue, cancellationToken);
            (ready, consumers) = (ready + state.MessageCount, consumers + state.ConsumerCount);
        }

        return (ready, consumers);
    }

    private async Task<long> CountByPluginAsync(CancellationToken cancellationToken)
    {
        var counts = await management.CountAsync(name, cancellationToken);
        return counts.GetValueOrDefault(names.Queue) + counts.GetValueOrDefault(names.Retries);
    }

    /// <summary>Takes all messages, without an acknowledgement, and gives them back by closing the channel.</summary>
    private async Task<IReadOnlyList<BasicGetResult>> ReadAsync(string queue, CancellationToken cancellationToken)
    {
        await using var channel = await OpenChannelAsync(cancellationToken);
        var messages = new List<BasicGetResult>();
        try
        {
            while (await channel.BasicGetAsync(queue, autoAck: false, cancellationToken) is { } message)
                messages.Add(message);
        }
        catch (OperationInterruptedException none) when (none.IsNotFound())
        {
            // Some queues come with their first message.
        }

        return messages;
    }

    private async Task<IChannel> OpenChannelAsync(CancellationToken cancellationToken) =>
        await (await ConnectAsync(cancellationToken)).CreateChannelAsync(cancellationToken: cancellationToken);

    private async Task<IConnection> ConnectAsync(CancellationToken cancellationToken)
    {
        await opening.WaitAsync(cancellationToken);
        try
        {
            if (connection is { IsOpen: true })
                return connection;

            if (connection is not null)
                await connection.DisposeAsync();

            return connection = await Broker.ConnectAsync(address, $"queue {name}", cancellationToken);
        }
        finally
        {
            opening.Release();
        }
    }
}
