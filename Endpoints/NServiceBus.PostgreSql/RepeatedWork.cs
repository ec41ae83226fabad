using Microsoft.Extensions.Logging;

namespace Kit.Endpoints.NServiceBus.PostgreSql;

/// <summary>Work that is repeated at intervals, from <see cref="Start"/> until it is disposed of.</summary>
/// <param name="log">Logs work that fails.</param>
internal sealed partial class RepeatedWork(ILogger log) : IAsyncDisposable
{
    private readonly CancellationTokenSource stopping = new();
    private readonly List<Func<Task>> all = [];
    private IReadOnlyList<Task> running = [];

    public void Add(TimeSpan interval, Func<CancellationToken, Task> work) => all.Add(() => RepeatAsync(interval, work));

    /// <summary>Starts all of it, once, in the caller's context, which tells NServiceBus's log the endpoint.</summary>
    public void Start()
    {
        if (running.Count == 0)
            running = [.. all.Select(repeat => repeat())];
    }

    /// <summary>Stops it: recovery between two branches.</summary>
    public async ValueTask DisposeAsync()
    {
        await stopping.CancelAsync();
        await Task.WhenAll(running);
        stopping.Dispose();
    }

    private async Task RepeatAsync(TimeSpan interval, Func<CancellationToken, Task> work)
    {
        while (!stopping.IsCancellationRequested)
        {
            await Task.Delay(interval, stopping.Token).ConfigureAwait(ConfigureAwaitOptions.SuppressThrowing);
            try
            {
                await work(stopping.Token);
            }
            catch (Exception) when (stopping.IsCancellationRequested)
            {
                // The next start of an endpoint of the queue recovers the rest.
            }
            catch (Exception failure)
            {
                LogFailed(failure.Message, interval.TotalSeconds);
            }
        }
    }

    [LoggerMessage(Level = LogLevel.Warning, Message = "{Reason} Next try in {Seconds} s.")]
    private partial void LogFailed(string reason, double seconds);
}
