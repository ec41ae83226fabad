namespace Kit.Endpoints.Bare;

/// <summary>
/// A server refused what a message needs before its handler had done anything there: a connection, or a slot to prepare its transaction in.
/// The message is not to blame.
/// </summary>
public sealed class ServerRefusedException(Exception refusal) : Exception(refusal.Message, refusal);
