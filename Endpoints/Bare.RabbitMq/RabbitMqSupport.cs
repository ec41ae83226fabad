using Kit.Modes;

namespace Kit.Endpoints.Bare.RabbitMq;

/// <summary>The modes that the bare endpoint supports on RabbitMQ, and why not the others.</summary>
public static class RabbitMqSupport
{
    /// <summary>Why flushes cannot be left out.</summary>
    public static Support LeftOutFlushes { get; } =
        Support.No("the acknowledgement leaves for the broker before the handlers' rows are durable, and a crash of the database would lose them");

    /// <exception cref="UnknownModeException">The mode has no entry here.</exception>
    public static Support Of(TransactionMode mode)
    {
        if (mode is { IsOneUnit: true })
        {
            return Support.No(
                "AMQP 0-9-1 transactions belong to one channel and have no prepare, so an acknowledgement cannot commit together with a database");
        }

        if (mode is { OnlyOnPostgreSqlBecause: { } because })
            return Support.No(because);

        Receivers.RequireEntry(mode);
        return Support.Yes;
    }
}
