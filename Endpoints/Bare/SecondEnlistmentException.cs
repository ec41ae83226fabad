namespace Kit.Endpoints.Bare;

/// <summary>
/// A resource other than the lent connection enlisted in the handler's transaction. A bare endpoint does not retry the message, because the next attempt
/// would do the same.
/// </summary>
/// <param name="others">The other resources, without passwords; empty if unknown.</param>
public sealed class SecondEnlistmentException(string others = "") : Exception(
    $"A resource other than the lent connection enlisted in the handler's transaction{(others.Length > 0 ? $" ({others})" : "")}, most likely a " +
    "connection that the handler opened itself. A crash between the two commits would leave it prepared, and nobody would end it. Use the " +
    "lent connection (context.GetConnectionAsync; on NServiceBus context.GetBranchConnectionAsync), or keep the other one out of the " +
    "transaction: Enlist=false in its connection string, or a TransactionScope with TransactionScopeOption.Suppress around it.");
