namespace Kit.Endpoints.Bare;

/// <summary>
/// A handler in <c>full-dtc</c> executed SQL that PostgreSQL cannot prepare. A bare endpoint does not retry the message, because the next attempt would
/// do the same.
/// </summary>
/// <param name="refusal">The server's answer to PREPARE TRANSACTION.</param>
public sealed class NotPreparableException(Exception refusal) : Exception(
    $"PostgreSQL cannot prepare the handler's transaction: {refusal?.Message} In full-dtc a handler must not use NOTIFY, LISTEN, temporary tables, " +
    "cursors WITH HOLD or exported snapshots. Use them on another connection (Enlist=false), or choose another mode.",
    refusal);
