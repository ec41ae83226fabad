namespace Kit.Endpoints.Bare;

/// <summary>
/// A server refused what the message needs: a connection, a prepared transaction, or to write at all. The failure is not the message's, so only endpoints
/// say so.
/// </summary>
public sealed class ServerRefusedException : Exception
{
    internal ServerRefusedException(Exception refusal)
        : base(refusal.Message, refusal)
    {
    }

    /// <summary>Whether it refused this message alone: others need not wait.</summary>
    internal bool IsOfOneMessage { get; init; }
}
