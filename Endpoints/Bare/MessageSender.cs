using System.Data.Common;
using System.Text.Json;
using System.Transactions;
using Kit.Endpoints.Bare.Health;

namespace Kit.Endpoints.Bare;

/// <summary>What all senders do alike, before the transport's own part.</summary>
/// <param name="system">What OpenTelemetry calls the system that holds the queues.</param>
/// <param name="json">How messages are written.</param>
internal abstract class MessageSender(string system, JsonSerializerOptions? json) : IMessageSender
{
    private readonly EndpointTelemetry telemetry = new(system, queue: "");

    public async Task SendAsync<TMessage>(
        string queue, TMessage message, DbTransaction? transaction = null, Guid? messageId = null,
        IReadOnlyDictionary<string, string>? headers = null, CancellationToken cancellationToken = default)
        where TMessage : notnull
    {
        ArgumentException.ThrowIfNullOrWhiteSpace(queue);
        if (transaction is null && Transaction.Current is not null)
        {
            throw new InvalidOperationException(
                $"There is an ambient transaction, and a message to '{queue}' would not belong to it. " +
                "Send with a transaction of the queues' database, or within a scope that suppresses the ambient one.");
        }

        await EndpointTelemetry.ProduceAsync(
            telemetry, "send", OutgoingMessage.Create(queue, message, messageId, json), headers,
            outgoing => SendAsync(outgoing, transaction, cancellationToken));
    }

    /// <summary>The caller's transaction as the driver's own, which is still open.</summary>
    /// <param name="transaction">The caller's.</param>
    /// <param name="driver">What gives transactions of that type.</param>
    /// <exception cref="NotSupportedException">It is another driver's.</exception>
    /// <exception cref="InvalidOperationException">It has ended.</exception>
    protected static TTransaction Given<TTransaction>(DbTransaction transaction, string driver)
        where TTransaction : DbTransaction
    {
        if (transaction is not TTransaction given)
        {
            throw new NotSupportedException(
                $"Expected a transaction of {driver}, found a {transaction.GetType().Name}. It must be one of the queues' database.");
        }

        return given.Connection is not null
            ? given
            : throw new InvalidOperationException("The transaction has ended, and the message was not sent. Send before it ends.");
    }

    /// <inheritdoc cref="IMessageSender.SendAsync"/>
    protected abstract Task SendAsync(OutgoingMessage message, DbTransaction? transaction, CancellationToken cancellationToken);
}
