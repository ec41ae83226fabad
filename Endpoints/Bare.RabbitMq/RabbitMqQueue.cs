using Microsoft.Extensions.Logging.Abstractions;
using RabbitMQ.Client;
using RabbitMQ.Client.Exceptions;

namespace Kit.Endpoints.Bare.RabbitMq;

/// <summary>Creates, fills, counts and drops a queue, whether or not its endpoint runs.</summary>
/// <exception cref="BrokerException">In every member: the broker cannot be reached or refused.</exception>
/// <param name="address">The broker.</param>
/// <param name="name">The queue's name.</param>
/// <param name="type">How the broker stores it.</param>
/// <param name="hasRetries">Whether it has the retry and error queues that bare endpoints use. Other frameworks create their own.</param>
/// <param name="errors">The error queue of a framework that names it itself; by default <see cref="Modes.ErrorQueue"/> names it.</param>
public sealed class RabbitMqQueue(
    RabbitMqAddress address, string name, QueueType type = QueueType.Classic, bool hasRetries = true, string? errors = null) : IReturningQueue, IPushedQueue
{
    private const int PublishBatch = 100;

    // A quorum queue reports its totals every 5 s: rabbit's quorum_tick_interval.
    private static readonly TimeSpan QuorumTick = TimeSpan.FromSeconds(8);

    private readonly QueueNames names = new(name, type, hasRetries, errors);
    private readonly ManagementApi management = new(address);
    private readonly SemaphoreSlim opening = new(1);
    private SendingConnection? connection;
    private Publisher? publisher;

    public string Name => name;

    /// <summary>
    /// Creates the queue if it is missing. An existing queue is not changed; an endpoint that starts logs what is wrong with it.
    /// </summary>
    /// <exception cref="BrokerException">The queue exists with another type.</exception>
    public async Task CreateAsync(CancellationToken cancellationToken) =>
        await new QueueCheck(names, address, NullLogger.Instance).RunAsync(await ConnectAsync(cancellationToken), cancellationToken);

    /// <summary>Declares the queue with a framework's own arguments.</summary>
    /// <exception cref="BrokerException">The queue exists with other arguments.</exception>
    public async Task DeclareAsync(IReadOnlyDictionary<string, object?> arguments, CancellationToken cancellationToken) =>
        await (await ConnectAsync(cancellationToken)).DeclareQueueAsync(name, type, arguments, cancellationToken);

    public async Task DropAsync(CancellationToken cancellationToken)
    {
        await using var channel = await OpenChannelAsync(cancellationToken);
        foreach (var queue in names.All)
            await channel.QueueDeleteAsync(queue, ifUnused: false, ifEmpty: false, cancellationToken: cancellationToken);
    }

    /// <inheritdoc/>
    /// <remarks>The subscription is a binding of the queue to a durable fanout exchange with the type's full name.</remarks>
    public Task SubscribeAsync(Type eventType, CancellationToken cancellationToken)
    {
        ArgumentNullException.ThrowIfNull(eventType);
        return BindExchangeAsync(OutgoingMessage.TypeName(eventType), cancellationToken);
    }

    /// <summary>Creates a fanout exchange with the queue's name and binds the queue to it. MassTransit sends to such an exchange.</summary>
    public Task BindExchangeAsync(CancellationToken cancellationToken) => BindExchangeAsync(name, cancellationToken);

    /// <summary>Creates a durable fanout exchange if it is missing, and binds the queue to it.</summary>
    /// <exception cref="BrokerException">The exchange exists with another type.</exception>
    public async Task BindExchangeAsync(string exchange, CancellationToken cancellationToken)
    {
        var broker = await ConnectAsync(cancellationToken);
        await new EventExchanges(broker).DeclareAsync(exchange);
        await using var channel = await broker.CreateChannelAsync(cancellationToken: cancellationToken);
        await channel.QueueBindAsync(name, exchange, routingKey: "", cancellationToken: cancellationToken);
    }

    /// <summary>Adds persistent messages. When this returns, the broker has confirmed each of them.</summary>
    /// <remarks>The channel stays open: opening one takes several times as long as a send.</remarks>
    public async Task EnqueueAsync(IEnumerable<OutgoingMessage> messages, CancellationToken cancellationToken)
    {
        var opened = await OpenPublisherAsync(cancellationToken);
        foreach (var batch in messages.Chunk(PublishBatch))
        {
            await Task.WhenAll(batch.Select(message => opened.PublishAsync(
                message.Queue, AmqpMessage.PropertiesOf(message), message.Body, cancellationToken))).WaitAsync(cancellationToken);
        }
    }

    /// <summary>
    /// Counts the messages in the queue and in its retry queue, including those that are being handled.
    /// </summary>
    /// <remarks>
    /// The management plugin counts ready and unacknowledged messages; AMQP itself counts only ready ones. The totals of a quorum queue with consumers
    /// can be old, so an answer of 0 is checked again after they must have been renewed.
    /// </remarks>
    public async Task<long> CountAsync(CancellationToken cancellationToken)
    {
        // The plugin asks one queue after another, so a message that moves between them can be missing once.
        if (type is QueueType.Classic)
            return await CountByPluginAsync(cancellationToken) is > 0 and var count ? count : await CountByPluginAsync(cancellationToken);

        // The number of ready messages is current, and without consumers there are no others.
        var (ready, consumers) = await CountReadyAsync(cancellationToken);
        if (ready > 0 || consumers == 0)
            return ready;

        await Task.Delay(QuorumTick, cancellationToken);
        return Math.Max(await CountByPluginAsync(cancellationToken), (await CountReadyAsync(cancellationToken)).Ready);
    }

    /// <summary>Reads the ids of the ready messages, in the queue's order. Reading marks them as redelivered.</summary>
    public Task<IReadOnlyList<Guid>> ReadMessagesAsync(CancellationToken cancellationToken) => ReadBodiesAsync((id, _) => id, cancellationToken);

    /// <summary>Reads the ready messages, in the queue's order. Reading marks them as redelivered.</summary>
    public async Task<IReadOnlyList<T>> ReadBodiesAsync<T>(Func<Guid, ReadOnlyMemory<byte>, T> read, CancellationToken cancellationToken)
    {
        return [.. await ReadAsync(names.Queue, Read, cancellationToken), .. await ReadAsync(names.Retries, Read, cancellationToken)];

        T Read(BasicGetResult message) => read(AmqpMessage.MessageIdOf(message.BasicProperties), message.Body);
    }

    /// <inheritdoc/>
    /// <remarks>A message leaves the queue when the broker pushes it.</remarks>
    public async Task<IAsyncDisposable> ConsumeAsync(
        Action<Guid, ReadOnlyMemory<byte>> take, Action<Exception> lose, CancellationToken cancellationToken) =>
        await QueueConsumer.OpenAsync(await ConnectAsync(cancellationToken), names.Queue, take, lose, cancellationToken);

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

    /// <summary>Reads the messages that were given up, in the order in which they failed. Reading marks them as redelivered.</summary>
    public async Task<IReadOnlyList<DeadLetter>> ReadErrorsAsync(CancellationToken cancellationToken) =>
        [.. (await ReadErrorPropertiesAsync(cancellationToken)).Select(AmqpMessage.DeadLetterOf)];

    /// <inheritdoc/>
    /// <remarks>
    /// The broker confirms each message in the queue before it is acknowledged in the error queue, so none is lost. A crash between the two doubles
    /// one. A message that the broker refuses for good stays in the error queue, and the error comes when the others are back. After a cancellation, messages
    /// that were already returned stay returned.
    /// </remarks>
    public async Task<IReadOnlyList<Guid>> ReturnErrorsAsync(IReadOnlyCollection<Guid>? messageIds, CancellationToken cancellationToken)
    {
        var broker = await ConnectAsync(cancellationToken);
        await using var taking = await broker.CreateChannelAsync(cancellationToken: cancellationToken);
        return await new ErrorReturn(names, taking, await OpenPublisherAsync(cancellationToken)).RunAsync(messageIds, cancellationToken);
    }

    /// <summary>Why the broker moved a message to the error queue; empty if an endpoint moved it.</summary>
    public static string BrokersReasonOf(IReadOnlyBasicProperties properties)
    {
        ArgumentNullException.ThrowIfNull(properties);
        return AmqpMessage.BrokersReasonOf(properties);
    }

    /// <summary>Reads the properties of the messages in the error queue.</summary>
    public async Task<IReadOnlyList<IReadOnlyBasicProperties>> ReadErrorPropertiesAsync(CancellationToken cancellationToken) =>
        await ReadAsync(names.Errors, message => message.BasicProperties, cancellationToken);

    /// <summary>Reads the size in bytes of the first message's body; <see langword="null"/> without a message. Reading marks it as redelivered.</summary>
    public async Task<int?> ReadBodySizeAsync(CancellationToken cancellationToken)
    {
        await using var channel = await OpenChannelAsync(cancellationToken);
        return (await channel.BasicGetAsync(names.Queue, autoAck: false, cancellationToken))?.Body.Length;
    }

    public async ValueTask DisposeAsync()
    {
        management.Dispose();
        opening.Dispose();
        publisher?.Dispose();
        if (connection is not null)
            await connection.DisposeAsync();
    }

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

    /// <summary>Takes all messages without acknowledging them, and returns them by closing the channel.</summary>
    private async Task<IReadOnlyList<T>> ReadAsync<T>(string queue, Func<BasicGetResult, T> read, CancellationToken cancellationToken)
    {
        await using var channel = await OpenChannelAsync(cancellationToken);
        var messages = new List<T>();
        try
        {
            while (await channel.BasicGetAsync(queue, autoAck: false, cancellationToken) is { } message)
                messages.Add(read(message));
        }
        catch (OperationInterruptedException none) when (none.IsNotFound() && messages.Count == 0)
        {
            // Some queues are created with their first message. One that goes away while it is read had more.
        }

        return messages;
    }

    private async Task<IChannel> OpenChannelAsync(CancellationToken cancellationToken) =>
        await (await ConnectAsync(cancellationToken)).CreateChannelAsync(cancellationToken: cancellationToken);

    private async Task<Publisher> OpenPublisherAsync(CancellationToken cancellationToken)
    {
        await ConnectAsync(cancellationToken);
        return publisher!;
    }

    private async Task<IConnection> ConnectAsync(CancellationToken cancellationToken)
    {
        await opening.WaitAsync(cancellationToken);
        try
        {
            if (connection is { Connection.IsOpen: true })
                return connection.Connection;

            if (connection is not null)
                await connection.DisposeAsync();

            connection = await SendingConnection.OpenAsync(address, $"queue {name}", Publisher.LongestBlockageOfASender, cancellationToken);
            publisher?.Dispose();
            publisher = new Publisher(connection);
            return connection.Connection;
        }
        finally
        {
            opening.Release();
        }
    }
}
