namespace Kit.Endpoints.Bare;

/// <summary>
/// A handler's ambient transaction was joined by something else than the connection that the endpoint lent. The next attempt would do the same:
/// none is made.
/// </summary>
/// <param name="others">What it was, where that can be told: without passwords.</param>
public sealed class SecondEnlistmentException(string others = "") : Exception(
    $"Something else than the lent connection was enlisted in the handler's transaction{(others.Length > 0 ? $" ({others})" : "")}, most likely a " +
    "connection that the handler opened by itself. A crash between the two commits would leave it prepared, and nobody would end it. Use the " +
    "connection of context.GetConnectionAsync, or keep the other one out of the transaction: Enlist=false in its connection string, or a " +
    "TransactionScope with TransactionScopeOption.Suppress around it.");
