using System.Data.Common;
using System.Text.Json;
using Kit.Endpoints.Bare.Health;

namespace Kit.Endpoints.Bare;

/// <summary>What an endpoint lends to a handler for one attempt at one message.</summary>
public sealed class MessageContext
{
    private readonly IWork work;
    private readonly JsonSerializerOptions? json;
    private readonly EndpointTelemetry? telemetry;

    /// <summary>A context for a test of a handler, without an endpoint: it lends a connection of yours and keeps what the handler sends.</summary>
    /// <param name="connection">What the handler works on.</param>
    /// <param name="sends">Gets what the handler sends.</param>
    /// <param name="transaction">The connection's transaction, for handlers that call <see cref="GetTransactionAsync"/>.</param>
    public MessageContext(DbConnection connection, ICollection<OutgoingMessage> sends, DbTransaction? transaction = null)
        : this(new GivenWork(connection, transaction, sends), json: null, telemetry: null)
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

    /// <summary>The message's identity.</summary>
    public Guid MessageId { get; init; } = Guid.CreateVersion7();

    /// <summary>1 for the first attempt.</summary>
    public int Attempt { get; init; } = 1;

    /// <summary>
    /// What travelled with the message: what its sender gave, and the trace context that the sender's endpoint added. On RabbitMQ headers of other
    /// types than text are left out.
    /// </summary>
    public IReadOnlyDictionary<string, string> Headers { get; init; } = MessageHeaders.None;

    /// <summary>
    /// The handler's open connection to its database, in the transaction that the mode says; the same one each time it is asked for.
    /// It is lent: the endpoint closes it, the handler does not dispose it.
    /// </summary>
    /// <remarks>
    /// When the server refuses it, no attempt is counted: the message goes back and the worker pauses. In <c>transactions-off</c> the message waits
    /// here, because nobody else has it any more.
    /// </remarks>
    /// <exception cref="DbException">The database cannot be reached.</exception>
    public ValueTask<DbConnection> GetConnectionAsync(CancellationToken cancellationToken) => work.GetConnectionAsync(cancellationToken);

    /// <summary>
    /// The transaction of that connection, for libraries that want the object, as Entity Framework Core's <c>UseTransactionAsync</c> does.
    /// It is lent: the endpoint commits it or rolls it back.
    /// </summary>
    /// <returns>
    /// <see langword="null"/> where no object stands for it. In <c>scope-off</c> and <c>transactions-off</c> each statement commits by itself. In
    /// <c>npgsql-scope</c>, and in <c>full-dtc</c> and <c>dtc-off</c> on SQL Server, the driver enlists the connection in the ambient transaction.
    /// </returns>
    /// <exception cref="DbException">The database cannot be reached.</exception>
    public ValueTask<DbTransaction?> GetTransactionAsync(CancellationToken cancellationToken) => work.GetTransactionAsync(cancellationToken);

    /// <summary>
    /// Sends a message to the queue of another endpoint: when the handler has succeeded, in the transaction of the receive;
    /// in <c>transactions-off</c> at once. RabbitMQ has no such transaction: after the handler has committed and before the acknowledgement.
    /// <c>outbox</c> records it in the handler's transaction and sends it from there until its queue has it, after a crash more than
    /// once with the same id.
    /// </summary>
    /// <param name="queue">The queue of the receiver.</param>
    /// <param name="message">Serialized as JSON, now.</param>
    /// <param name="messageId">Its identity; a new one when not given.</param>
    /// <param name="headers">What travels with it; <c>traceparent</c> is added where a trace is recorded.</param>
    /// <param name="cancellationToken">Cancels the send.</param>
    /// <exception cref="ArgumentException">A header's name is empty or begins with <c>kit-</c>, or the headers exceed 16,384 characters.</exception>
    /// <exception cref="Exception"><c>transactions-off</c> only: the queue does not exist or cannot be reached; the driver's own exception.</exception>
    public async Task SendAsync<TMessage>(
        string queue, TMessage message, Guid? messageId = null, IReadOnlyDictionary<string, string>? headers = null,
        CancellationToken cancellationToken = default)
        where TMessage : notnull
    {
        ArgumentException.ThrowIfNullOrWhiteSpace(queue);
        await EndpointTelemetry.ProduceAsync(
            telemetry, work.SendsAtOnce ? "send" : "create", OutgoingMessage.Create(queue, message, messageId, json), headers,
            outgoing => work.SendAsync(outgoing, cancellationToken));
    }
}
