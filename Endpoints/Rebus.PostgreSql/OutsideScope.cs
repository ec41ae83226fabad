using System.Transactions;

namespace Kit.Endpoints.Rebus.PostgreSql;

/// <summary>Work in no ambient transaction.</summary>
internal static class OutsideScope
{
    public static async Task<T> RunAsync<T>(Func<Task<T>> work)
    {
        using var outside = new TransactionScope(TransactionScopeOption.Suppress, TransactionScopeAsyncFlowOption.Enabled);
        var result = await work();
        outside.Complete();
        return result;
    }
}
