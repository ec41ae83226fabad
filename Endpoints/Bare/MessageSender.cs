using System.Data.Common;
using System.Text.Json;
using System.Transactions;
using Kit.Endpoints.Bare.Health;

namespace Kit.Endpoints.Bare;

/// <summary>What all senders do before the transport-specific part.</summary>
/// <param name="system">OpenTelemetry's name for the system that holds the queues.</param>
/// <param name="json">How messages are serialized.</param>
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
                "Pass a transaction of the queues' database, or send inside a scope that suppresses the ambient one.");
        }

        var outgoing = OutgoingMessage.Create(queue, message, messageId, json);
        await EndpointTelemetry.ProduceAsync(
            telemetry, "send", queue, outgoing.MessageId, headers ?? MessageHeaders.None,
            traced => SendAsync(outgoing with { Headers = traced }, transaction, cancellationToken));
    }

    /// <summary>The caller's transaction as the driver's type. It must still be open.</summary>
    /// <param name="transaction">The caller's transaction.</param>
    /// <param name="driver">The driver that has transactions of that type.</param>
    /// <exception cref="NotSupportedException">It belongs to another driver.</exception>
    /// <exception cref="InvalidOperationException">It has ended.</exception>
    protected static TTransaction Given<TTransaction>(DbTransaction transaction, string driver)
        where TTransaction : DbTransaction
    {
        if (transaction is not TTransaction given)
        {
            throw new NotSupportedException(
                $"Expected a transaction of {driver}, found a {transaction.GetType().Name}. Pass a transaction of the queues' database.");
        }

        return given.Connection is not null
            ? given
            : throw new InvalidOperationException("The transaction has ended, so the message was not sent. Send before the transaction ends.");
    }

    /// <inheritdoc cref="IMessageSender.SendAsync"/>
    protected abstract Task SendAsync(OutgoingMessage message, DbTransaction? transaction, CancellationToken cancellationToken);
}
