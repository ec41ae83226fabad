namespace Kit.Tests.Servers;

/// <summary>The start of a server that is cancelled in the middle.</summary>
internal static class CancelledStart
{
    private const int Tries = 10;

    /// <summary>Cancels a start after a time. A timer can be later than the server is ready: then that one is disposed, and another is started.</summary>
    public static async Task OfAsync<TServer>(TimeSpan after, Func<CancellationToken, Task<TServer>> startAsync)
        where TServer : IAsyncDisposable
    {
        for (var attempt = 1; attempt <= Tries; attempt++)
        {
            using var cancellation = new CancellationTokenSource(after);
            try
            {
                await (await startAsync(cancellation.Token)).DisposeAsync();
            }
            catch (OperationCanceledException)
            {
                return;
            }
        }

        Assert.Fail($"It was not cancelled after {after.TotalSeconds} s in any of {Tries} starts.");
    }
}
