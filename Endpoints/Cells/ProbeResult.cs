using Kit.Modes;

namespace Kit.Endpoints.Cells;

/// <summary>The observed behaviour of a cell with a few messages.</summary>
/// <param name="Order">The order of the commits; <see langword="null"/> if no message was handled.</param>
/// <param name="ScopeIsolation">The isolation level of the ambient transaction; <see langword="null"/> without one.</param>
/// <param name="Isolation">The isolation level of the handler's connection, as the database names it.</param>
/// <param name="MostTogether">The most handlers that ran at the same time.</param>
/// <param name="BodyBytes">The size in bytes of a message's body, as the transport stores it.</param>
/// <param name="Disagreements">Each way in which the cell differs from its label, for the user to read.</param>
public sealed record ProbeResult(
    CommitOrder? Order, string? ScopeIsolation, string? Isolation, int MostTogether, int? BodyBytes, IReadOnlyList<string> Disagreements)
{
    /// <summary>A cell that differs from its label may not be measured.</summary>
    public Support Support => Disagreements.Count == 0 ? Support.Yes : Support.No(string.Join("; ", Disagreements));
}
