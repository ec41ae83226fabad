namespace Kit.Runner.Measuring;

/// <summary>Work that ends together: if one part fails, the others are stopped.</summary>
internal static class Together
{
    /// <summary>Runs the parts, each on a thread of the pool. A part that was stopped has done its work.</summary>
    /// <param name="parts">Each gets a token that ends it.</param>
    /// <exception cref="Exception">The exception of the first part that failed, when all have ended.</exception>
    public static async Task RunAsync(IEnumerable<Func<CancellationToken, Task>> parts, CancellationToken stop)
    {
        using var ending = CancellationTokenSource.CreateLinkedTokenSource(stop);
        await Task.WhenAll(parts.Select(part => Task.Run(() => RunAsync(part), CancellationToken.None)));

        async Task RunAsync(Func<CancellationToken, Task> part)
        {
            try
            {
                await part(ending.Token);
            }
            catch (OperationCanceledException) when (ending.IsCancellationRequested)
            {
                // It was told to end.
            }
            catch
            {
                await ending.CancelAsync();
                throw;
            }
        }
    }
}
