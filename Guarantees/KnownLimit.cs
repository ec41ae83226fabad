using Kit.Modes;

namespace Kit.Guarantees;

/// <summary>The messages for which a <see cref="KnownLimit"/> breaks the promise.</summary>
public enum Affected
{
    /// <summary>The message that meets the fault; if a server crashes, every message.</summary>
    Chosen,

    /// <summary>A message that is handled at the same time, or after it, and does not meet the fault.</summary>
    Bystander,
}

/// <summary>
/// A fault under which a framework, a driver or a broker is known to keep less than the mode promises. The promise does not change: an
/// experiment that shows the limit is reported as broken, with the reason next to it. Each framework states its own.
/// </summary>
/// <param name="Transport">The transport that has it; <see langword="null"/> for every transport of the framework.</param>
/// <param name="Modes">The modes that have it.</param>
/// <param name="Fault">The fault that shows it; <see langword="null"/> for a storm, and with <see cref="AlsoAtAPoint"/> for points.</param>
/// <param name="Affected">The messages that it affects.</param>
/// <param name="Classes">The classes that they can end in besides the promised ones.</param>
/// <param name="Reason">Why, without a full stop, with the version in which it was seen or the issue that reports it.</param>
public sealed record KnownLimit(
    string? Transport,
    IReadOnlyList<TransactionMode> Modes,
    Fault? Fault,
    Affected Affected,
    IReadOnlySet<DeliveryClass> Classes,
    string Reason)
{
    /// <summary>
    /// True if only cells have it that move a message to the error queue when it is received once more, and false if only those that do so within its last
    /// attempt; <see langword="null"/> if both have it.
    /// </summary>
    public bool? DeadLettersNext { get; init; }

    /// <summary>True if it explains only messages that are in the error queue, and false if only others; <see langword="null"/> if both.</summary>
    public bool? GivenUp { get; init; }

    /// <summary>True if a kill alone can show it in a storm; otherwise only a lost connection does: a cut, or a crash of a server.</summary>
    public bool AlsoAfterAKill { get; init; }

    /// <summary>True if one kill or cut is enough to show it, also at a point of a handling. Others need several.</summary>
    public bool AlsoAtAPoint { get; init; }

    /// <summary>True if an experiment can show it.</summary>
    /// <param name="transport">The cell's transport.</param>
    /// <param name="mode">The cell's mode.</param>
    /// <param name="fault">The fault; <see langword="null"/> for a storm.</param>
    /// <param name="affected">The messages that they affect.</param>
    /// <param name="deadLettersNext">The cell moves a message to the error queue when it is received once more.</param>
    public bool IsOf(string transport, TransactionMode mode, Fault? fault, Affected affected, bool deadLettersNext) =>
        (Transport ?? transport) == transport && Modes.Contains(mode) && Fault == fault && Affected == affected
        && (DeadLettersNext ?? deadLettersNext) == deadLettersNext;

    /// <summary>The most messages that it can explain in a storm; <see langword="null"/>: any number, because a server was away.</summary>
    /// <param name="kills">How often the handlers' process was killed.</param>
    /// <param name="cuts">How often all its connections were cut.</param>
    /// <param name="serverCrashes">How often a database server crashed.</param>
    /// <param name="unsettled">How many messages can be received and not settled at the same time.</param>
    public int? MostInAStorm(int kills, int cuts, int serverCrashes, int unsettled) =>
        serverCrashes > 0 ? null : ((AlsoAfterAKill ? kills : 0) + cuts) * unsettled;

    /// <summary>True if it explains all of what was found for a message.</summary>
    /// <param name="classes">The message's classes that are not promised.</param>
    /// <param name="isGivenUp">The message is in the error queue.</param>
    public bool Explains(IEnumerable<DeliveryClass> classes, bool isGivenUp) => (GivenUp ?? isGivenUp) == isGivenUp && classes.All(Classes.Contains);
}
