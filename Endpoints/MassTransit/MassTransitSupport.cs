using Kit.Modes;

namespace Kit.Endpoints.MassTransit;

/// <summary>What MassTransit on RabbitMQ can promise.</summary>
public static class MassTransitSupport
{
    public static Support Of(TransactionMode mode) =>
        mode == TransactionMode.DtcOff || mode == TransactionMode.ScopeOff || mode == TransactionMode.TransactionsOff
            ? Support.Yes
            : Support.No("AMQP 0-9-1 transactions belong to one channel and have no prepare, so an acknowledgement cannot commit together with a database");
}
