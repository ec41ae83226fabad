namespace Kit.Endpoints.Bare;

/// <summary>
/// Starts long-running work without its caller's execution context. Otherwise the caller's activity would be the parent of every message's, and
/// the work would join the caller's ambient transaction.
/// </summary>
internal static class OwnContext
{
    public static Task Run(Func<Task> work)
    {
        if (ExecutionContext.IsFlowSuppressed())
            return Task.Run(work, CancellationToken.None);

        using (ExecutionContext.SuppressFlow())
            return Task.Run(work, CancellationToken.None);
    }
}
