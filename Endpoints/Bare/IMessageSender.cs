using System.Data.Common;

namespace Kit.Endpoints.Bare;

/// <summary>
/// Sends messages from outside of handlers: from a web request, a timer, a command line. A handler sends by its <see cref="MessageContext"/>.
/// </summary>
public interface IMessageSender
{
    /// <summary>
    /// Sends a message durably: it is in its queue when this returns or, with a transaction, when that has committed.
    /// </summary>
    /// <param name="queue">The queue of the receiver.</param>
    /// <param name="message">Serialized as JSON, now.</param>
    /// <param name="transaction">The caller's, in the queues' database: the message is sent when it commits, and not when it rolls back.</param>
    /// <param name="messageId">Its identity; a new one when not given.</param>
    /// <param name="headers">What travels with it; <c>traceparent</c> is added where a trace is recorded.</param>
    /// <param name="cancellationToken">Cancels the send. One that was under way may have been made.</param>
    /// <exception cref="ArgumentException">A header's name is empty or begins with <c>kit-</c>, or the headers exceed 16,384 characters.</exception>
    /// <exception cref="InvalidOperationException">
    /// There is an ambient transaction, and none was given: the message would not belong to it. Give the transaction, or suppress the ambient one.
    /// Or the transaction that was given has ended, or the queue does not exist in PostgreSQL. Nothing was sent.
    /// </exception>
    /// <exception cref="NotSupportedException">A transaction was given that the queues cannot take part in.</exception>
    /// <exception cref="Exception">
    /// The driver's own, on RabbitMQ a <c>BrokerException</c>. Where the connection was lost or
    /// the broker did not confirm in time, the message may have been sent: send it again with the same <paramref name="messageId"/>. A
    /// transaction of PostgreSQL in which a send failed has failed as a whole.
    /// </exception>
    Task SendAsync<TMessage>(
        string queue, TMessage message, DbTransaction? transaction = null, Guid? messageId = null,
        IReadOnlyDictionary<string, string>? headers = null, CancellationToken cancellationToken = default)
        where TMessage : notnull;
}
