using Kit.Handlers;
using Kit.Modes;

namespace Kit.Endpoints.Cells;

/// <summary>Framework × transport × mode × access library: what one row of a comparison measures.</summary>
public sealed record Cell(IEndpointKind Kind, TransactionMode Mode, AccessLibrary Access)
{
    /// <summary>Every cell that can be named, runnable or not; those of the comparison modes after those of the matrix.</summary>
    public static IReadOnlyList<Cell> All { get; } =
    [
        .. from kind in EndpointKinds.All
           from mode in TransactionMode.All
           from access in AccessLibrary.All
           select new Cell(kind, mode, access),
    ];

    /// <summary>Whether the cell can run, or the first reason why not.</summary>
    public Support Support => Kind.Supports(Mode) is { IsSupported: false } mode ? mode : Access.Support;

    /// <summary>Also the name of its queue.</summary>
    public string Name => $"{Kind.Framework}.{Kind.Transport}.{Mode.Name}.{Access.Name}";

    public override string ToString() => Name;
}
