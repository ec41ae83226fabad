using System.Transactions;
using Kit.Modes;

namespace Kit.Endpoints.Bare;

/// <summary>The one way in which the kit opens ambient transactions: new, with the mode's isolation level, flowing through awaits.</summary>
internal static class AmbientTransaction
{
    public static TransactionScope Begin(TransactionSettings settings) =>
        new(TransactionScopeOption.RequiresNew, settings.Options, TransactionScopeAsyncFlowOption.Enabled);

    /// <summary>A transaction that is entered with <see cref="Enter"/> and committed with <see cref="CommitAsync"/>.</summary>
    public static CommittableTransaction Create(TransactionSettings settings) => new(settings.Options);

    public static TransactionScope Enter(Transaction transaction) => new(transaction, TransactionScopeAsyncFlowOption.Enabled);

    /// <summary>Commits without blocking a thread.</summary>
    /// <exception cref="TransactionException">It did not commit, or nobody knows whether it did.</exception>
    public static Task CommitAsync(this CommittableTransaction transaction) =>
        Task.Factory.FromAsync(transaction.BeginCommit, transaction.EndCommit, state: null);
}
