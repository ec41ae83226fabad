using Kit.Modes;

namespace Kit.Endpoints.Bare.RabbitMq;

/// <summary>What RabbitMQ can promise, whatever the framework.</summary>
public static class RabbitMqSupport
{
    public static Support Of(TransactionMode mode) =>
        mode == TransactionMode.DtcOff || mode == TransactionMode.ScopeOff || mode == TransactionMode.TransactionsOff
            ? Support.Yes
            : Support.No("AMQP 0-9-1 transactions belong to one channel and have no prepare, so an acknowledgement cannot commit together with a database");
}
