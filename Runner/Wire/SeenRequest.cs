using Kit.Runner.Results.Points;

namespace Kit.Runner.Wire;

/// <summary>A request that was seen in a handling.</summary>
/// <param name="Server">As in <see cref="RequestId"/>.</param>
/// <param name="Text">As in <see cref="RequestId"/>.</param>
/// <param name="Connection">Number of the connection, in the order in which they were opened.</param>
internal sealed record SeenRequest(string Server, string Text, int Connection, WireRequest Request);
