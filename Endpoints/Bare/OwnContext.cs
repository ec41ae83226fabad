namespace Kit.Endpoints.Bare;

/// <summary>
/// Starts what runs until the host stops without the context of whoever started it: its activity would be the parent of every message's, and its
/// ambient transaction would be joined.
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
