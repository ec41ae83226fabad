using Kit.Modes;
using static Kit.Guarantees.DeliveryClass;

namespace Kit.Guarantees;

/// <summary>Whose promise a <see cref="KnownLimit"/> breaks.</summary>
public enum Affected
{
    /// <summary>The message that meets the fault; every message where a server crashes.</summary>
    Chosen,

    /// <summary>A message that is handled at the same time and meets no fault.</summary>
    Bystander,
}

/// <summary>
/// What a framework, a driver or a broker makes of a fault although the mode promises better. The promise stays the mode's, and an experiment
/// that shows the limit stays broken; the reason stands next to it.
/// </summary>
/// <param name="Framework">Where it is seen.</param>
/// <param name="Transport">Where it is seen; <see langword="null"/> for every transport of the framework.</param>
/// <param name="Modes">In which modes.</param>
/// <param name="Fault">Under which fault; <see langword="null"/>: in a storm of kills and cuts.</param>
/// <param name="Affected">Which messages.</param>
/// <param name="Classes">What they can be besides the classes that are promised.</param>
/// <param name="Reason">Why, without a full stop, with the version in which it was seen or the issue that reports it.</param>
public sealed record KnownLimit(
    string Framework,
    string? Transport,
    IReadOnlyList<TransactionMode> Modes,
    Fault? Fault,
    Affected Affected,
    IReadOnlySet<DeliveryClass> Classes,
    string Reason)
{
    private const string DriversCommit = "the driver takes the roll-back that answers the scope's commit for success (npgsql issue 6641)";

    private static readonly Fault[] CrashesOfTheBroker = [Fault.RestartBroker, Fault.RestartBrokerHalfway, Fault.RestartBrokerLate];

    public static IReadOnlyList<KnownLimit> All { get; } =
    [
        new("nservicebus", "rabbitmq", [TransactionMode.DtcOff, TransactionMode.ScopeOff], Fault.FailedDispatch, Affected.Bystander,
            Set(Duplicated, DuplicatedOutgoing),
            "the endpoint has one channel to publish on; the broker closes it when a handler sends to a queue that does not exist, and a " +
            "neighbour's send on that channel fails after its rows have committed (NServiceBus.RabbitMQ 11.2.1)"),
        new("masstransit", null, [TransactionMode.DtcOff], Fault.SwallowedError, Affected.Chosen, Set(Ghost), DriversCommit),
        new("nservicebus", null, [TransactionMode.DtcOff], Fault.SwallowedError, Affected.Chosen, Set(Ghost), DriversCommit),
        .. from framework in new[] { "masstransit", "nservicebus" }
           select new KnownLimit(
               framework, null, [TransactionMode.DtcOff], Fault.SecondConnection, Affected.Chosen, Set(Once),
               "the driver enlists both connections and commits them in two phases, which nobody recovers after a crash (npgsql issue 1378)"),
        .. from framework in new[] { "masstransit", "nservicebus" }
           from fault in new[] { Fault.RestartDatabase, Fault.DatabaseAway }
           select new KnownLimit(
               framework, null, [TransactionMode.DtcOff, TransactionMode.ScopeOff], fault, Affected.Chosen, Set(CleanError, Zombie),
               "every failure is an attempt there, and three quick ones are over before the database is back (MassTransit 8.4.0, NServiceBus 10.2.8)"),
        .. from framework in new[] { "masstransit", "nservicebus" }
           select new KnownLimit(
               framework, null, [TransactionMode.DtcOff, TransactionMode.ScopeOff], Fault: null, Affected.Chosen, Set(CleanError, Zombie),
               "a connection that is cut is a failed attempt there, and after three the message is given up (MassTransit 8.4.0, NServiceBus 10.2.8)"),
        .. from fault in CrashesOfTheBroker
           select new KnownLimit(
               "masstransit", "rabbitmq", [TransactionMode.DtcOff, TransactionMode.ScopeOff], fault, Affected.Chosen, Set(Stuck),
               "the bus sometimes goes on trying the connection that it lost and does not connect again; the messages stay in the queue " +
               "(MassTransit 8.4.0)"),
        .. from fault in CrashesOfTheBroker
           select new KnownLimit(
               "bare", "rabbitmq", [TransactionMode.TransactionsOff], fault, Affected.Chosen, Set(Duplicated, DuplicatedOutgoing),
               "a classic queue notes on disk what it forgot when it has time, so a broker that is killed can hand out again what it had delivered " +
               "under no-ack (RabbitMQ 3.10.8)"),
    ];

    /// <summary>The limits that are known of one experiment.</summary>
    /// <param name="framework">Of the cell.</param>
    /// <param name="transport">Of the cell.</param>
    /// <param name="mode">Of the cell.</param>
    /// <param name="fault">The fault; <see langword="null"/>: a storm.</param>
    /// <param name="affected">Which messages.</param>
    public static IReadOnlyList<KnownLimit> Of(string framework, string transport, TransactionMode mode, Fault? fault, Affected affected) =>
    [
        .. from limit in All
           where limit.Framework == framework && (limit.Transport ?? transport) == transport
           where limit.Modes.Contains(mode) && limit.Fault == fault && limit.Affected == affected
           select limit,
    ];

    private static HashSet<DeliveryClass> Set(params DeliveryClass[] classes) => [.. classes];
}
