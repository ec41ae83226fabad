namespace Kit.Runner.Wire;

/// <summary>Decides which bytes pass through one connection of a <see cref="FaultProxy"/>. Nothing is forwarded unless it says so.</summary>
internal interface IConnectionFilter
{
    /// <summary>Called for each piece in the order of its arrival; for the two directions at the same time.</summary>
    void See(Traffic direction, ReadOnlySpan<byte> piece);

    /// <summary>Called when the connection has ended.</summary>
    void End();
}

/// <summary>A filter's means to act on its connection.</summary>
/// <param name="ToServer">Sends bytes to the server, after those that were sent before.</param>
/// <param name="ToClient">Sends bytes to the client, after those that were sent before.</param>
/// <param name="Cut">Ends the connection for both sides, and returns at once.</param>
internal sealed record ConnectionSides(Action<byte[]> ToServer, Action<byte[]> ToClient, Action Cut);
