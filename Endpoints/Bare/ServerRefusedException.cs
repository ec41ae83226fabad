namespace Kit.Endpoints.Bare;

/// <summary>
/// A server refused what the message needs: a connection, a prepared transaction, or to write at all. The failure is not the message's.
/// </summary>
public sealed class ServerRefusedException(Exception refusal) : Exception(refusal.Message, refusal);
