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
    };

    /// <exception cref="UnknownModeException">The mode has no entry here.</exception>
    public static Support Of(TransactionMode mode)
    {
        if (mode is { IsOneUnit: true })
        {
            return Support.No(
                "AMQP 0-9-1 transactions belong to one channel and have no prepare, so an acknowledgement cannot commit together with a database");
        }

        return mode is { OnlyOnPostgreSqlBecause: { } because } ? Support.No(because) : Supports.Of(mode);
    }
}
