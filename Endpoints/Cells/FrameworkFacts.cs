using Kit.Guarantees;
using Kit.Modes;

namespace Kit.Endpoints.Cells;

/// <summary>A framework, and all that the runner needs of it besides its endpoints. Every kind of the framework has the same facts.</summary>
/// <param name="Name">Its name in cells.</param>
/// <param name="Title">Its name as its makers write it.</param>
public sealed record FrameworkFacts(string Name, string Title)
{
    /// <summary>
    /// The marks of the commit of a handler's rows, one after another on its connection: the last one is the commit. Frameworks commit other things too, so
    /// the rows are among the marks. Two-phase commits look the same in every framework, and are not asked for.
    /// </summary>
    public required Func<MetCommit, IReadOnlyList<WireMark>> CommitOfRows { get; init; }

    /// <summary>
    /// The marks of the commit of a receive, with the send before it; <see langword="null"/>: its queues are a broker's, which all endpoints acknowledge in
    /// the same way.
    /// </summary>
    public required IReadOnlyList<WireMark>? CommitOfReceive { get; init; }

    /// <summary>The same for a two-phase commit with its queue on another server; <see langword="null"/>: the framework has none.</summary>
    public IReadOnlyList<WireMark>? DecisionOnTwoServers { get; init; }

    /// <summary>The faults under which it, its driver or its broker is known to keep less than is promised.</summary>
    public required IReadOnlyList<KnownLimit> Limits { get; init; }

    /// <summary>The known limits of one experiment with a cell of the framework.</summary>
    /// <param name="fault"><see langword="null"/> for a storm.</param>
    public IReadOnlyList<KnownLimit> LimitsOf(Cell cell, Fault? fault, Affected affected)
    {
        ArgumentNullException.ThrowIfNull(cell);
        return [.. Limits.Where(limit => limit.IsOf(cell.Kind.Transport, cell.Mode, fault, affected, cell.DeadLettersNext))];
    }
}

/// <summary>The commit of a handler's rows that a fault meets.</summary>
/// <param name="Rows">The rows of an attempt.</param>
/// <param name="IsPrevented">True if it must not reach the server; false if only its answer must not arrive.</param>
public sealed record MetCommit(TransactionMode Mode, int Rows, bool IsPrevented);
