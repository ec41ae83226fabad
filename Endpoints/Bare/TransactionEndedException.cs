namespace Kit.Endpoints.Bare;

/// <summary>
/// In <c>outbox</c>, a handler committed the transaction that the endpoint had lent it. The message is not retried, because the next attempt
/// would do the same.
/// </summary>
/// <param name="failure">The failure that the attempt ended with.</param>
public sealed class TransactionEndedException(Exception failure) : Exception(
    "The handler committed the transaction that the endpoint had lent it. Its rows stay, and its sends are not dispatched. A handler must not commit " +
    $"or roll back. The attempt ended with: {failure.Message}",
    failure);
