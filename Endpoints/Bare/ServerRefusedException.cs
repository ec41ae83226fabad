namespace Kit.Endpoints.Bare;

/// <summary>
/// Before the handler had done anything on a server, that server refused what the message needs: a connection, or a prepared transaction.
/// The failure is not the message's.
/// </summary>
public sealed class ServerRefusedException(Exception refusal) : Exception(refusal.Message, refusal);
