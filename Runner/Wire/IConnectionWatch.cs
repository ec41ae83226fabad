namespace Kit.Runner.Wire;

/// <summary>Sees the bytes through one connection of a <see cref="FaultProxy"/>, as they arrive, in pieces of any size.</summary>
internal interface IConnectionWatch
{
    /// <summary>Called for each piece before it is forwarded; for the two directions at the same time.</summary>
    void See(Traffic direction, ReadOnlySpan<byte> piece);
}
