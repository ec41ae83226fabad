namespace Kit.Endpoints.Bare;

/// <summary>A handler in the outbox committed the transaction that the endpoint lent to it. The next attempt would do the same: none is made.</summary>
/// <param name="failure">How the attempt ended.</param>
public sealed class TransactionEndedException(Exception failure) : Exception(
    "The handler committed the transaction that the endpoint lent to it. Its rows stay, and what it sent is not dispatched. A handler neither commits " +
    $"nor rolls back. The attempt ended with: {failure.Message}",
    failure);
