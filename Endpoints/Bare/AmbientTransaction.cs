using System.Transactions;
using Kit.Modes;

namespace Kit.Endpoints.Bare;

/// <summary>Opens ambient transactions, always in the same way: new, with the mode's isolation level, flowing across awaits.</summary>
internal static class AmbientTransaction
{
    public static TransactionScope Begin(TransactionSettings settings) =>
        new(TransactionScopeOption.RequiresNew, settings.Options, TransactionScopeAsyncFlowOption.Enabled);

    /// <summary>A transaction that is entered with <see cref="Enter"/> and committed with <see cref="CommitAsync"/>.</summary>
    public static CommittableTransaction Create(TransactionSettings settings) => new(settings.Options);

    public static TransactionScope Enter(Transaction transaction) => new(transaction, TransactionScopeAsyncFlowOption.Enabled);

    /// <summary>Commits without blocking a thread.</summary>
    /// <exception cref="TransactionException">The transaction did not commit, or its outcome is unknown.</exception>
    public static Task CommitAsync(this CommittableTransaction transaction) =>
        Task.Factory.FromAsync(transaction.BeginCommit, transaction.EndCommit, state: null);
}
