using System.Transactions;
using Kit.Modes;

namespace Kit.Endpoints.Bare;

/// <summary>The one way in which the kit opens ambient transactions: new, with the kit's isolation level, flowing through awaits.</summary>
internal static class AmbientTransaction
{
    private static readonly TransactionOptions Options = new()
    {
        IsolationLevel = Enum.Parse<IsolationLevel>(TransactionMode.Isolation.ToString()),
        Timeout = TransactionManager.DefaultTimeout,
    };

    public static TransactionScope Begin() => new(TransactionScopeOption.RequiresNew, Options, TransactionScopeAsyncFlowOption.Enabled);

    /// <summary>A transaction that is entered with <see cref="Enter"/> and committed without blocking a thread.</summary>
    public static CommittableTransaction Create() => new(Options);

    public static TransactionScope Enter(Transaction transaction) => new(transaction, TransactionScopeAsyncFlowOption.Enabled);
}
