using System.Data.Common;

namespace Kit.Endpoints.Bare;

/// <summary>What an endpoint lends to a handler for one attempt at one message.</summary>
public sealed class MessageContext
{
    private readonly IWork work;

    internal MessageContext(Guid messageId, int attempt, IWork work)
    {
        MessageId = messageId;
        Attempt = attempt;
        this.work = work;
    }

    public Guid MessageId { get; }

    /// <summary>1 for the first attempt.</summary>
    public int Attempt { get; }

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
    /// Sends a message to the queue of another endpoint: when the handler has succeeded, in the transaction of the receive;
    /// in <c>transactions-off</c> at once. RabbitMQ has no such transaction: after the handler has committed and before the acknowledgement.
    /// <c>outbox</c> records it in the handler's transaction and sends it from there until its queue has it, after a crash more than
    /// once with the same id.
    /// </summary>
    /// <param name="queue">The queue of the receiver.</param>
    /// <param name="message">Serialized as JSON, now.</param>
    /// <param name="messageId">Its identity; a new one when not given.</param>
    /// <param name="cancellationToken">Cancels the send.</param>
    /// <exception cref="Exception"><c>transactions-off</c> only: the queue does not exist or cannot be reached; the driver's own exception.</exception>
    public Task SendAsync<TMessage>(string queue, TMessage message, Guid? messageId = null, CancellationToken cancellationToken = default)
        where TMessage : notnull =>
        work.SendAsync(OutgoingMessage.Create(queue, message, messageId), cancellationToken);
}
