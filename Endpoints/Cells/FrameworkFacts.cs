using Kit.Guarantees;
using Kit.Modes;

namespace Kit.Endpoints.Cells;

/// <summary>A framework, and all that the runner needs of it besides its endpoints. Every kind of the framework has the same facts.</summary>
/// <param name="Name">Its name in cells.</param>
/// <param name="Title">Its name as its makers write it.</param>
public sealed record FrameworkFacts(string Name, string Title)
{
    /// <summary>
    /// The text, without its values, of a statement of its own that ends a receive; <see langword="null"/>: a commit or an acknowledgement ends it.
    /// </summary>
    public string? EndOfReceive { get; init; }

    /// <summary>A mode in which the handler's transaction ends the receive, too, although the message has left its queue before.</summary>
    public TransactionMode? ReceiveEndsWithRows { get; init; }

    /// <summary>A mode in which the handler's transaction begins before the handler, although it is not the receive's.</summary>
    public TransactionMode? RowsBeginBeforeHandler { get; init; }

    /// <summary>
    /// The longest time for which it leaves work alone that it is going to do. An experiment ends after twice as long without a change. NServiceBus connects
    /// again after 10 s, and Rebus pauses as long; recovery and the kit's dispatcher look every 5 s, and brokers update their counts as slowly.
    /// </summary>
    public TimeSpan LongestPause { get; init; } = TimeSpan.FromSeconds(10);

    /// <summary>The faults under which it, its driver or its broker is known to keep less than is promised.</summary>
    public required IReadOnlyList<KnownLimit> Limits { get; init; }

    /// <summary>The known limits of one experiment with a cell of the framework.</summary>
    /// <param name="fault"><see langword="null"/> for a storm.</param>
    public IReadOnlyList<KnownLimit> LimitsOf(Cell cell, Fault? fault, Affected affected)
    {
        ArgumentNullException.ThrowIfNull(cell);
        return [.. Limits.Where(limit => limit.IsOf(cell.Kind.Transport, cell.Mode, fault, affected, cell.DeadLettersNext))];
    }

    /// <summary>The known limits of one point of a handling.</summary>
    /// <param name="affected">The message that meets the point, or one that comes after it.</param>
    /// <param name="isKilled">The handlers' process is killed there. Otherwise a connection is lost, or gets no answer.</param>
    public IReadOnlyList<KnownLimit> LimitsAtAPoint(Cell cell, Affected affected, bool isKilled) =>
        [.. LimitsOf(cell, fault: null, affected).Where(limit => limit.AlsoAtAPoint && (limit.AlsoAfterAKill || !isKilled))];
}
