using Kit.Guarantees;
using Kit.Modes;
using static Kit.Guarantees.DeliveryClass;

namespace Kit.Endpoints.Cells;

/// <summary>The known limits that several frameworks have, because they share a driver, a broker or a way to count attempts.</summary>
internal static class SharedLimits
{
    private const string Versions = "(MassTransit 8.5.12, NServiceBus 10.2.8, Wolverine 6.62.0)";

    /// <summary>Where the framework opens a scope around the handler, and the driver commits it.</summary>
    public static IReadOnlyList<KnownLimit> OfTheDriversScope { get; } =
    [
        new(null, [TransactionMode.DtcOff], Fault.SwallowedError, Affected.Chosen, new HashSet<DeliveryClass> { Ghost },
            "PostgreSQL answers the scope's commit with a roll-back, and the driver reports success (npgsql issue 6641)"),
        new(null, [TransactionMode.DtcOff], Fault.SecondConnection, Affected.Chosen, new HashSet<DeliveryClass> { Once },
            "the driver enlists both connections and commits them in two phases, but nothing recovers them after a crash (npgsql issue 1378)"),
        OfSettingsLeft(TransactionMode.DtcOff),
    ];

    /// <summary>Where one channel of a client publishes for several handlers, and the broker closes it.</summary>
    public static KnownLimit OfTheSharedChannel { get; } = new(
        TransportName.RabbitMq, [TransactionMode.DtcOff, TransactionMode.ScopeOff], Fault.SendRefused, Affected.Bystander,
        new HashSet<DeliveryClass> { Duplicated, DuplicatedOutgoing },
        "the broker closes the channel on which a message is too large, and another handler's send on that channel fails after its rows have committed " +
        "(MassTransit 8.5.12, NServiceBus.RabbitMQ 11.2.1)");

    /// <summary>A connection that was closed within a scope.</summary>
    public static KnownLimit OfSettingsLeft(TransactionMode mode) => new(
        null, [mode], Fault.SettingsLeft, Affected.Bystander, new HashSet<DeliveryClass> { Ghost },
        "the driver returns a connection that was closed within its scope to the pool without a reset (npgsql issue 4451, mended for version 11)");

    /// <summary>Where every failure is a failed attempt, and attempts follow each other without a pause.</summary>
    /// <param name="counts">The modes in which the framework counts attempts.</param>
    /// <param name="afterRows">Those of them in which an attempt can fail after its rows have committed.</param>
    /// <param name="onABroker">Those of them in which it handles messages of a broker while the rows' server is read-only.</param>
    public static IReadOnlyList<KnownLimit> OfQuickAttempts(
        IReadOnlyList<TransactionMode> counts, IReadOnlyList<TransactionMode> afterRows, IReadOnlyList<TransactionMode> onABroker) =>
    [
        .. from fault in new[] { Fault.RestartDatabase, Fault.DatabaseAway }
           from limit in OfGivenUp(
               counts, afterRows, fault,
               $"every failure counts as an attempt, and three quick attempts, the kit's setting, fail before the database is back {Versions}")
           select limit,
        .. onABroker.Count == 0 ? [] : new[]
        {
            new KnownLimit(
                TransportName.RabbitMq, onABroker, Fault.ServerReadOnly, Affected.Chosen, new HashSet<DeliveryClass> { CleanError },
                $"every failure counts as an attempt, and three quick attempts, the kit's setting, fail before the server takes writes " +
                $"again {Versions}"),
        },
        .. OfGivenUp(
            counts, afterRows, fault: null,
            $"a cut connection counts as a failed attempt, and the message is given up after three, the kit's setting {Versions}"),
    ];

    /// <summary>An error that a handler swallows, where its server undoes the statement alone.</summary>
    public static KnownLimit OfStatementsOnSqlServer { get; } = new(
        TransportName.SqlServer, [TransactionMode.FullDtc, TransactionMode.FullDtcPromoted, TransactionMode.DtcOff], Fault.SwallowedError, Affected.Chosen,
        new HashSet<DeliveryClass> { Torn },
        "SQL Server undoes the failed statement and keeps the transaction, unless XACT_ABORT is on (documented, not run)");

    /// <summary>Messages that are given up: without any effect, and with their rows only where an attempt can fail after those have committed.</summary>
    /// <param name="counts">The modes in which failures count.</param>
    /// <param name="afterRows">Those of them in which an attempt can fail after its rows have committed.</param>
    /// <param name="fault"><see langword="null"/> for a storm.</param>
    public static IEnumerable<KnownLimit> OfGivenUp(
        IReadOnlyList<TransactionMode> counts, IReadOnlyList<TransactionMode> afterRows, Fault? fault, string reason) =>
        from modes in new[]
        {
            (Modes: afterRows, Classes: new HashSet<DeliveryClass> { CleanError, Zombie }),
            (Modes: [.. counts.Except(afterRows)], Classes: [CleanError]),
        }
        where modes.Modes.Count > 0
        select new KnownLimit(null, modes.Modes, fault, Affected.Chosen, modes.Classes, reason) { GivenUp = true };
}
