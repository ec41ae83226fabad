using Kit.Modes;

namespace Kit.Endpoints.MassTransit;

/// <summary>The modes that MassTransit supports on RabbitMQ.</summary>
public static class MassTransitSupport
{
    private static readonly ByMode<Support> Supports = new("MassTransit on RabbitMQ")
    {
        { [TransactionMode.DtcOff, TransactionMode.ScopeOff, TransactionMode.TransactionsOff], Support.Yes },
        {
            TransactionMode.Outbox,
            Support.No(
                "MassTransit's transactional outbox writes through Entity Framework Core or MongoDB, not on the connection that the kit's " +
                "handlers use")
        },
        {
            [
                TransactionMode.FullDtc, TransactionMode.FullDtcWaiting, TransactionMode.FullDtcPromoted, TransactionMode.NpgsqlScope,
                TransactionMode.Shared,
            ],
            Support.No(
                "AMQP 0-9-1 transactions belong to one channel and have no prepare, so an acknowledgement cannot commit together with a database")
        },
    };

    /// <exception cref="UnknownModeException">The mode has no entry here.</exception>
    public static Support Of(TransactionMode mode) => Supports.Of(mode);
}
