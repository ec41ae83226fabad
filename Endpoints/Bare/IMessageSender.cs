using System.Data.Common;

namespace Kit.Endpoints.Bare;

/// <summary>
/// Sends messages from outside a handler, such as a web request, a timer or a command line. A handler sends with its
/// <see cref="MessageContext"/>.
/// </summary>
public interface IMessageSender
{
    /// <summary>
    /// Sends a message durably. The message is in its queue when this returns or, with a transaction, when the transaction has committed.
    /// </summary>
    /// <remarks>
    /// With <c>synchronous_commit = off</c> for the role or the database, PostgreSQL confirms a commit before it is on disk: a crash of the server can
    /// lose the message. A sender does not look for that setting.
    /// </remarks>
    /// <param name="queue">The queue of the receiver.</param>
    /// <param name="message">Serialized as JSON, at once.</param>
    /// <param name="transaction">The caller's transaction in the queues' database: the message is sent if and when it commits.</param>
    /// <param name="messageId">The message's id, which no other message has; a new one by default.</param>
    /// <param name="headers">The message's headers; <c>traceparent</c> is added if a trace is recorded.</param>
    /// <param name="cancellationToken">Cancels the send. The message may have been sent before the cancellation took effect.</param>
    /// <exception cref="ArgumentException">A header's name is empty or begins with <c>kit-</c>, or the headers exceed 16,384 characters.</exception>
    /// <exception cref="InvalidOperationException">
    /// There is an ambient transaction, and no <paramref name="transaction"/> was given: the message would not belong to it. Pass the
    /// transaction, or suppress the ambient one. Also if the given transaction has ended, or the queue does not exist in PostgreSQL. Nothing was
    /// sent.
    /// </exception>
    /// <exception cref="NotSupportedException">The queues cannot take part in the given transaction.</exception>
    /// <exception cref="Exception">
    /// The driver's exception, on RabbitMQ a <c>BrokerException</c>. If the connection was lost or the broker did not confirm in time, the
    /// message may have been sent: send it again with the same <paramref name="messageId"/>. A failed send makes the whole PostgreSQL
    /// transaction fail.
    /// </exception>
    Task SendAsync<TMessage>(
        string queue, TMessage message, DbTransaction? transaction = null, Guid? messageId = null,
        IReadOnlyDictionary<string, string>? headers = null, CancellationToken cancellationToken = default)
        where TMessage : notnull;
}
