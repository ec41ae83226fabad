using System.Data.Common;
using System.Security.Cryptography;
using System.Text;
using System.Text.Json;
using Kit.Endpoints.Bare.Health;

namespace Kit.Endpoints.Bare;

/// <summary>What an endpoint gives a handler for one attempt at one message.</summary>
public sealed class MessageContext
{
    private readonly IWork work;
    private readonly JsonSerializerOptions? json;
    private readonly EndpointTelemetry? telemetry;
    // A handler may send in parallel, and what holds its sends back is a list. It also orders them and the end of the attempt.
    private readonly Lock sending = new();
    private volatile bool hasEnded;

    /// <summary>Creates a context to test a handler without an endpoint. It lends your connection and collects the handler's sends.</summary>
    /// <param name="connection">The connection that the handler is lent.</param>
    /// <param name="sends">Receives the messages that the handler sends.</param>
    /// <param name="transaction">
    /// The connection's transaction, for handlers that call <see cref="GetTransactionAsync(CancellationToken)"/>.
    /// </param>
    /// <param name="participants">
    /// The connections to further databases, by name, for handlers that call <see cref="GetConnectionAsync(string, CancellationToken)"/>.
    /// </param>
    public MessageContext(
        DbConnection connection, ICollection<OutgoingMessage> sends, DbTransaction? transaction = null,
        IReadOnlyDictionary<string, DbConnection>? participants = null)
        : this(new GivenWork(connection, transaction, sends, participants), json: null, telemetry: null)
    {
        ArgumentNullException.ThrowIfNull(connection);
        ArgumentNullException.ThrowIfNull(sends);
    }

    internal MessageContext(IWork work, JsonSerializerOptions? json, EndpointTelemetry? telemetry)
    {
        this.work = work;
        this.json = json;
        this.telemetry = telemetry;
    }

    /// <summary>The message's id.</summary>
    public Guid MessageId { get; init; } = Guid.CreateVersion7();

    /// <summary>The number of this attempt; 1 for the first.</summary>
    public int Attempt { get; init; } = 1;

    /// <summary>
    /// The message's headers: those that its sender set, and the trace context that the sender's endpoint added. On RabbitMQ, headers that are
    /// not text are left out.
    /// </summary>
    public IReadOnlyDictionary<string, string> Headers { get; init; } = MessageHeaders.None;

    /// <summary>The endpoint's name.</summary>
    internal string Endpoint { get; init; } = "";

    /// <summary>
    /// Derives an id for one of the handler's sends from the handled message. It is the same whenever this message is handled, so that receivers can discard a
    /// repetition, and no other send has it. The message's own id must not be used for a send: a receiver that has handled one of several messages with an
    /// id discards the others.
    /// </summary>
    /// <param name="send">What the handler calls this send, differently from its other ones.</param>
    /// <exception cref="InvalidOperationException">The handled message has no id.</exception>
    public Guid DeriveId(string send)
    {
        ArgumentException.ThrowIfNullOrWhiteSpace(send);
        if (MessageId == Guid.Empty)
            throw new InvalidOperationException("Expected an id in the handled message to derive another from, and it has none: its sender must set it.");

        var id = SHA256.HashData(Encoding.UTF8.GetBytes($"{MessageId}\0{Endpoint}\0{send}"))[..16];
        // Version 8 of RFC 9562: what the bits mean is its maker's business.
        id[6] = (byte)((id[6] & 0x0F) | 0x80);
        id[8] = (byte)((id[8] & 0x3F) | 0x80);
        return new Guid(id, bigEndian: true);
    }

    /// <summary>
    /// The handler's open connection to its database, in the transaction that the mode prescribes. Every call returns the same one.
    /// The endpoint closes it; the handler must not dispose it.
    /// </summary>
    /// <remarks>
    /// If the server refuses the connection, no attempt is counted: the message goes back and the worker pauses. In <c>transactions-off</c> this
    /// call waits, because the message has left the queue.
    /// </remarks>
    /// <exception cref="DbException">The database cannot be reached.</exception>
    /// <exception cref="InvalidOperationException">The handler has returned, and a task that it did not await goes on.</exception>
    public ValueTask<DbConnection> GetConnectionAsync(CancellationToken cancellationToken) => Running.GetConnectionAsync(cancellationToken);

    /// <summary>
    /// The transaction of that connection, for libraries that need the object, such as Entity Framework Core's <c>UseTransactionAsync</c>.
    /// The endpoint commits it or rolls it back; the handler must not.
    /// </summary>
    /// <returns>
    /// <see langword="null"/> if no object represents it: in <c>scope-off</c> and <c>transactions-off</c>, where each statement autocommits; and in
    /// <c>npgsql-scope</c>, and on SQL Server in <c>full-dtc</c> and <c>dtc-off</c>, where the driver enlists the connection in the ambient
    /// transaction.
    /// </returns>
    /// <inheritdoc cref="GetConnectionAsync(CancellationToken)" path="/exception"/>
    public ValueTask<DbTransaction?> GetTransactionAsync(CancellationToken cancellationToken) => Running.GetTransactionAsync(cancellationToken);

    /// <summary>
    /// The open connection to a further database, which the endpoint was given with <c>AddParticipant</c>. What the handler writes on it commits with the
    /// receive, as its other work does. Every call with a name returns the same one. The endpoint closes it; the handler must not dispose it.
    /// </summary>
    /// <param name="participant">The name of that database.</param>
    /// <param name="cancellationToken">Cancels the opening.</param>
    /// <exception cref="ArgumentException">The endpoint has no participant of that name. The message names those that it has.</exception>
    /// <inheritdoc cref="GetConnectionAsync(CancellationToken)" path="/exception|/remarks"/>
    public ValueTask<DbConnection> GetConnectionAsync(string participant, CancellationToken cancellationToken)
    {
        ArgumentException.ThrowIfNullOrEmpty(participant);
        return Running.GetConnectionAsync(participant, cancellationToken);
    }

    /// <summary>The transaction of that connection, for libraries that need the object. The endpoint ends it; the handler must not.</summary>
    /// <inheritdoc cref="GetConnectionAsync(string, CancellationToken)" path="/param|/exception"/>
    public ValueTask<DbTransaction?> GetTransactionAsync(string participant, CancellationToken cancellationToken)
    {
        ArgumentException.ThrowIfNullOrEmpty(participant);
        return Running.GetTransactionAsync(participant, cancellationToken);
    }

    /// <summary>
    /// Sends a message to the queue of another endpoint.
    /// </summary>
    /// <remarks>
    /// The message is sent when the handler has succeeded, in the transaction of the receive. On RabbitMQ, which has no such transaction, it is
    /// sent after the handler's commit and before the acknowledgement. In <c>transactions-off</c> it is sent at once. In <c>outbox</c> it is
    /// recorded in the handler's transaction and dispatched until it arrives. It can arrive more than once, with the same id: after a crash, after a
    /// lost connection, or if its first dispatch takes longer than a second.
    /// </remarks>
    /// <param name="queue">The queue of the receiver.</param>
    /// <param name="message">Serialized as JSON, at once.</param>
    /// <param name="messageId">The message's id, which no other message has (<see cref="DeriveId"/>); a new one by default.</param>
    /// <param name="headers">The message's headers; <c>traceparent</c> is added if a trace is recorded.</param>
    /// <param name="cancellationToken">Cancels the send.</param>
    /// <exception cref="ArgumentException">A header's name is empty or begins with <c>kit-</c>, or the headers exceed 16,384 characters.</exception>
    /// <exception cref="Exception">
    /// The driver's exception, in <c>transactions-off</c> only: the queue does not exist or cannot be reached.
    /// </exception>
    /// <exception cref="InvalidOperationException">The handler has returned, and a task that it did not await goes on.</exception>
    public async Task SendAsync<TMessage>(
        string queue, TMessage message, Guid? messageId = null, IReadOnlyDictionary<string, string>? headers = null,
        CancellationToken cancellationToken = default)
        where TMessage : notnull
    {
        ArgumentException.ThrowIfNullOrWhiteSpace(queue);
        await ProduceAsync(OutgoingMessage.Create(queue, message, messageId, json), headers, cancellationToken);
    }

    /// <summary>
    /// Publishes an event: each queue that has subscribed to its type gets it once. It is one send, so the mode does with it what it does with
    /// <see cref="SendAsync"/>. See <see cref="IMessageQueue.SubscribeAsync"/>.
    /// </summary>
    /// <remarks>
    /// An event of a type to which no queue has subscribed is refused, like a message to a queue that does not exist. On RabbitMQ an event that one of several
    /// queues refuses, as full, has reached the others, and reaches them again with each repetition: in <c>outbox</c> every 5 s with the same id, otherwise
    /// with the next attempt, as another event unless its id is derived.
    /// </remarks>
    /// <param name="message">Serialized as JSON, at once. Subscribers name its type.</param>
    /// <param name="messageId">The event's id, the same in all queues, which no other has (<see cref="DeriveId"/>); a new one by default.</param>
    /// <param name="headers">The event's headers; <c>traceparent</c> is added if a trace is recorded.</param>
    /// <param name="cancellationToken">Cancels the publish.</param>
    /// <inheritdoc cref="SendAsync" path="/exception"/>
    public Task PublishAsync<TMessage>(
        TMessage message, Guid? messageId = null, IReadOnlyDictionary<string, string>? headers = null, CancellationToken cancellationToken = default)
        where TMessage : notnull => ProduceAsync(OutgoingMessage.CreateEvent(message, messageId, json), headers, cancellationToken);

    /// <summary>
    /// Sends a message to the queue that the handled message names in its header <see cref="OutgoingMessage.ReplyToHeader"/>. It is a send, so the mode
    /// does with it what it does with <see cref="SendAsync"/>.
    /// </summary>
    /// <param name="message">Serialized as JSON, at once.</param>
    /// <param name="messageId">The reply's id, which no other message has (<see cref="DeriveId"/>); a new one by default.</param>
    /// <param name="headers">The reply's headers; <c>traceparent</c> is added if a trace is recorded.</param>
    /// <param name="cancellationToken">Cancels the send.</param>
    /// <exception cref="InvalidOperationException">The handled message names no queue.</exception>
    /// <inheritdoc cref="SendAsync" path="/exception"/>
    public Task ReplyAsync<TMessage>(
        TMessage message, Guid? messageId = null, IReadOnlyDictionary<string, string>? headers = null, CancellationToken cancellationToken = default)
        where TMessage : notnull => SendAsync(
            MessageHeaders.ReplyToIn(Headers) ?? throw new InvalidOperationException(
                $"Expected the queue for a reply in the header '{OutgoingMessage.ReplyToHeader}' of message {MessageId}, and it names none. " +
                "The sender of a request must name one."),
            message, messageId, headers, cancellationToken);

    /// <summary>The handler has returned. What a task that it left behind asks for from now on would belong to no attempt.</summary>
    internal void End()
    {
        lock (sending)
            hasEnded = true;
    }

    private IWork Running => !hasEnded ? work : throw new InvalidOperationException(
        $"Attempt {Attempt} at message {MessageId} has ended, and a task that its handler did not await goes on. It can neither use the connection nor send. " +
        "The handler must await all its work.");

    private Task ProduceAsync(OutgoingMessage message, IReadOnlyDictionary<string, string>? headers, CancellationToken cancellationToken) =>
        EndpointTelemetry.ProduceAsync(
            telemetry, Running.SendsAtOnce ? "send" : "create", message.Queue, message.MessageId, headers ?? MessageHeaders.None,
            traced =>
            {
                lock (sending)
                    return Running.SendAsync(message with { Headers = traced }, cancellationToken);
            });
}
