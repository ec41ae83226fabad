using Kit.Modes;

namespace Kit.Endpoints.Bare.RabbitMq;

/// <summary>What the bare endpoint can promise on RabbitMQ, and why not more.</summary>
public static class RabbitMqSupport
{
    public static Support Of(TransactionMode mode) =>
        mode == TransactionMode.DtcOff || mode == TransactionMode.ScopeOff || mode == TransactionMode.TransactionsOff || mode == TransactionMode.Outbox
            ? Support.Yes
            : Support.No("AMQP 0-9-1 transactions belong to one channel and have no prepare, so an acknowledgement cannot commit together with a database");
}
