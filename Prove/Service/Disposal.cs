using System.Runtime.ExceptionServices;

namespace Kit.Prove.Service;

/// <summary>Ends several things in their order, each also after another has failed: on a server of the user's nothing is left for that.</summary>
internal static class Disposal
{
    /// <exception cref="Exception">The first failure.</exception>
    public static async ValueTask OfAllAsync(IEnumerable<IAsyncDisposable?> all, params IEnumerable<Func<Task>> last)
    {
        Exception? first = null;
        foreach (var end in all.OfType<IAsyncDisposable>().Select(one => (Func<Task>)(() => one.DisposeAsync().AsTask())).Concat(last))
        {
            try
            {
                await end();
            }
            catch (Exception failure)
            {
                first ??= failure;
            }
        }

        if (first is not null)
            ExceptionDispatchInfo.Throw(first);
    }
}
