using Kit.Modes;
using static Kit.Guarantees.DeliveryClass;

namespace Kit.Guarantees;

/// <summary>The messages for which a <see cref="KnownLimit"/> breaks the promise.</summary>
public enum Affected
{
    /// <summary>The message that meets the fault; if a server crashes, every message.</summary>
    Chosen,

    /// <summary>A message that is handled at the same time, and does not meet the fault.</summary>
    Bystander,
}

/// <summary>
/// A fault under which a framework, a driver or a broker is known to keep less than the mode promises. The promise does not change: an
/// experiment that shows the limit is reported as broken, with the reason next to it.
/// </summary>
/// <param name="Framework">The framework that has the limit.</param>
/// <param name="Transport">The transport that has it; <see langword="null"/> for every transport of the framework.</param>
/// <param name="Modes">The modes that have it.</param>
/// <param name="Fault">The fault that shows it; <see langword="null"/> for a storm of kills and cuts.</param>
/// <param name="Affected">The messages that it affects.</param>
/// <param name="Classes">The classes that they can end in besides the promised ones.</param>
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
    private const string DriversCommit = "PostgreSQL answers the scope's commit with a roll-back, and the driver reports success (npgsql issue 6641)";

    private static readonly Fault[] CrashesOfTheBroker = [Fault.RestartBroker, Fault.RestartBrokerHalfway, Fault.RestartBrokerLate];

    public static IReadOnlyList<KnownLimit> All { get; } =
    [
        new("nservicebus", "rabbitmq", [TransactionMode.DtcOff, TransactionMode.ScopeOff], Fault.FailedDispatch, Affected.Bystander,
            Set(Duplicated, DuplicatedOutgoing),
            "the endpoint has one channel to publish on; the broker closes it when a handler sends to a queue that does not exist, and another " +
            "handler's send on that channel fails after its rows have committed (NServiceBus.RabbitMQ 11.2.1)"),
        new("masstransit", null, [TransactionMode.DtcOff], Fault.SwallowedError, Affected.Chosen, Set(Ghost), DriversCommit),
        new("nservicebus", null, [TransactionMode.DtcOff], Fault.SwallowedError, Affected.Chosen, Set(Ghost), DriversCommit),
        new("nservicebus", "postgresql", [TransactionMode.Outbox], Fault.CutAtReceive, Affected.Chosen, Set(DuplicatedOutgoing),
            "it dispatches sends in a transaction of their own, and dispatches them again if the answer to that commit is lost (NServiceBus 10.2.8)"),
        new("nservicebus", null, [TransactionMode.Outbox], Fault.LateQueue, Affected.Chosen, Set(Zombie),
            "it dispatches sends within the message's attempts, and then gives the message up, with its rows committed (NServiceBus 10.2.8)"),
        .. from framework in new[] { "masstransit", "nservicebus" }
           select new KnownLimit(
               framework, null, [TransactionMode.DtcOff], Fault.SecondConnection, Affected.Chosen, Set(Once),
               "the driver enlists both connections and commits them in two phases, but nothing recovers them after a crash (npgsql issue 1378)"),
        .. from met in new (string Framework, TransactionMode Mode)[]
           {
               ("bare", TransactionMode.NpgsqlScope), ("masstransit", TransactionMode.DtcOff), ("nservicebus", TransactionMode.DtcOff),
           }
           select new KnownLimit(
               met.Framework, null, [met.Mode], Fault.SettingsLeft, Affected.Bystander, Set(Ghost),
               "the driver returns a connection that was closed within its scope to the pool without a reset (npgsql issue 4451)"),
        .. from framework in new[] { "masstransit", "nservicebus" }
           from fault in new[] { Fault.RestartDatabase, Fault.DatabaseAway }
           select new KnownLimit(
               framework, null, CountedBy(framework), fault, Affected.Chosen, Set(CleanError, Zombie),
               "every failure counts as an attempt, and three quick attempts fail before the database is back (MassTransit 8.5.12, NServiceBus 10.2.8)"),
        .. from met in new (string Framework, TransactionMode[] Modes)[]
           {
               ("masstransit", [TransactionMode.DtcOff, TransactionMode.ScopeOff]),
               ("nservicebus", [TransactionMode.DtcOff, TransactionMode.ScopeOff, TransactionMode.Outbox]),
           }
           select new KnownLimit(
               met.Framework, "rabbitmq", met.Modes, Fault.ServerReadOnly, Affected.Chosen, Set(CleanError),
               "every failure counts as an attempt, and three quick attempts fail before the server takes writes again (MassTransit 8.5.12, NServiceBus " +
               "10.2.8)"),
        .. from framework in new[] { "masstransit", "nservicebus" }
           select new KnownLimit(
               framework, "rabbitmq", [TransactionMode.DtcOff, TransactionMode.ScopeOff], Fault.SendRefused, Affected.Bystander,
               Set(Duplicated, DuplicatedOutgoing),
               "the broker closes the channel on which a message is too large, and another handler's send on that channel fails after its rows have " +
               "committed (MassTransit 8.5.12, NServiceBus.RabbitMQ 11.2.1)"),
        new("masstransit", "rabbitmq", [TransactionMode.TransactionsOff], Fault.SendRefused, Affected.Bystander, Set(Lost, Zombie),
            "the broker closes the channel on which a message is too large; sends on it fail, and what was delivered without acknowledgement and had not " +
            "been handled is gone (MassTransit 8.5.12)"),
        .. from framework in new[] { "masstransit", "nservicebus" }
           select new KnownLimit(
               framework, null, CountedBy(framework), Fault: null, Affected.Chosen, Set(CleanError, Zombie),
               "a cut connection counts as a failed attempt, and the message is given up after three (MassTransit 8.5.12, NServiceBus 10.2.8)"),
        new("bare", null,
            [
                TransactionMode.FullDtc, TransactionMode.FullDtcWaiting, TransactionMode.DtcOff, TransactionMode.ScopeOff, TransactionMode.Shared,
                TransactionMode.Outbox,
            ],
            Fault: null, Affected.Chosen, Set(CleanError, Zombie),
            "a lost session counts as a failed attempt, and a message that loses three is given up (the kit's bare endpoint)"),
        .. from fault in CrashesOfTheBroker
           select new KnownLimit(
               "bare", "rabbitmq", [TransactionMode.TransactionsOff], fault, Affected.Chosen, Set(Duplicated, DuplicatedOutgoing),
               "a classic queue is slow to record on disk which messages it has removed, so a killed broker can redeliver messages that it had " +
               "delivered under no-ack (RabbitMQ 3.10.8)"),
    ];

    /// <summary>The known limits of one experiment.</summary>
    /// <param name="framework">The cell's framework.</param>
    /// <param name="transport">The cell's transport.</param>
    /// <param name="mode">The cell's mode.</param>
    /// <param name="fault">The fault; <see langword="null"/> for a storm.</param>
    /// <param name="affected">The messages that they affect.</param>
    public static IReadOnlyList<KnownLimit> Of(string framework, string transport, TransactionMode mode, Fault? fault, Affected affected) =>
    [
        .. from limit in All
           where limit.Framework == framework && (limit.Transport ?? transport) == transport
           where limit.Modes.Contains(mode) && limit.Fault == fault && limit.Affected == affected
           select limit,
    ];

    /// <summary>The modes in which the framework counts attempts.</summary>
    /// <exception cref="NotSupportedException">Nobody has said which modes of that framework count attempts.</exception>
    internal static TransactionMode[] CountedBy(string framework) => framework switch
    {
        "nservicebus" => [TransactionMode.FullDtc, TransactionMode.DtcOff, TransactionMode.ScopeOff, TransactionMode.Shared, TransactionMode.Outbox],
        "masstransit" => [TransactionMode.DtcOff, TransactionMode.ScopeOff],
        _ => throw new NotSupportedException($"Nobody has said in which modes '{framework}' counts attempts."),
    };

    private static HashSet<DeliveryClass> Set(params DeliveryClass[] classes) => [.. classes];
}
