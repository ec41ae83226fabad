using Kit.Runner.Results.Points;

namespace Kit.Runner.Wire;

/// <summary>A request that was seen in a handling.</summary>
/// <param name="Server">As in <see cref="RequestId"/>.</param>
/// <param name="Text">As in <see cref="RequestId"/>.</param>
/// <param name="Connection">The connection, in the order in which they were opened.</param>
/// <param name="Request">The request.</param>
internal sealed record SeenRequest(string Server, string Text, int Connection, WireRequest Request);
