using Rebus.Messages;
using Rebus.Transport;

namespace Kit.Endpoints.Rebus.PostgreSql;

/// <summary>Rebus's transport, which leaves the transaction that received a message in the message's transaction context.</summary>
internal sealed class LendingTransport(ITransport transport) : ITransport
{
    public string Address => transport.Address;

    public void CreateQueue(string address) => transport.CreateQueue(address);

    public Task Send(string destinationAddress, TransportMessage message, ITransactionContext context) =>
        transport.Send(destinationAddress, message, context);

    public Task<TransportMessage> Receive(ITransactionContext context, CancellationToken cancellationToken)
    {
        var receive = new ReceiveTransaction();
        context.Items[ReceiveTransaction.Key] = receive;
        return LentConnections.KeepAsync(receive, () => transport.Receive(context, cancellationToken));
    }
}
