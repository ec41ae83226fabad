using Kit.Modes;

namespace Kit.Endpoints.Cells;

/// <summary>What a cell really did with a handful of messages.</summary>
/// <param name="Order">What commits when; <see langword="null"/> when no message was handled.</param>
/// <param name="ScopeIsolation">Isolation level of the ambient transaction; <see langword="null"/> without one.</param>
/// <param name="Isolation">Isolation level of the handler's connection, in the database's words.</param>
/// <param name="MostTogether">The most handlers that ran at the same time.</param>
/// <param name="BodyBytes">A message's body as the transport stores it, in bytes.</param>
/// <param name="Disagreements">Each way in which the cell is not what its label says, in words for a user.</param>
public sealed record ProbeResult(
    CommitOrder? Order, string? ScopeIsolation, string? Isolation, int MostTogether, int? BodyBytes, IReadOnlyList<string> Disagreements)
{
    /// <summary>Whether the cell may be measured, and if not, why not.</summary>
    public Support Support => Disagreements.Count == 0 ? Support.Yes : Support.No(string.Join("; ", Disagreements));
}
