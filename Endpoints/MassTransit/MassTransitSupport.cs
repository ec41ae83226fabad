using Kit.Modes;

namespace Kit.Endpoints.MassTransit;

/// <summary>What MassTransit on RabbitMQ can promise.</summary>
public static class MassTransitSupport
{
    public static Support Of(TransactionMode mode) =>
        mode == TransactionMode.DtcOff || mode == TransactionMode.ScopeOff || mode == TransactionMode.TransactionsOff
            ? Support.Yes
            : mode == TransactionMode.Outbox
            ? Support.No("MassTransit's transactional outbox writes through Entity Framework Core or MongoDB, not on the connection that the kit's handlers insert with")
            : Support.No("AMQP 0-9-1 transactions belong to one channel and have no prepare, so an acknowledgement cannot commit together with a database");
}
