using Kit.Endpoints.Bare.PostgreSql.TwoPhase;
using Microsoft.Extensions.Logging;

namespace Kit.Endpoints.NServiceBus.PostgreSql;

/// <summary>Recovers the branches of a queue at intervals, until it is disposed of.</summary>
internal sealed partial class RepeatedRecovery : IAsyncDisposable
{
    private readonly CancellationTokenSource stopping = new();
    private readonly Branches branches;
    private readonly TimeSpan interval;
    private readonly ILogger log;
    private readonly Task running;

    /// <param name="branches">The branches of the queue.</param>
    /// <param name="interval">The interval, which is also how old a branch must be.</param>
    /// <param name="log">Logs a recovery that fails.</param>
    public RepeatedRecovery(Branches branches, TimeSpan interval, ILogger log)
    {
        this.branches = branches;
        this.interval = interval;
        this.log = log;
        running = RunAsync();
    }

    /// <summary>Stops it, between two branches.</summary>
    public async ValueTask DisposeAsync()
    {
        await stopping.CancelAsync();
        await running;
        stopping.Dispose();
    }

    private async Task RunAsync()
    {
        while (!stopping.IsCancellationRequested)
        {
            await Task.Delay(interval, stopping.Token).ConfigureAwait(ConfigureAwaitOptions.SuppressThrowing);
            try
            {
                await branches.RecoverAsync(interval, stopping.Token);
            }
            catch (Exception) when (stopping.IsCancellationRequested)
            {
                // The next start of an endpoint of the queue recovers the rest.
            }
            catch (Exception failure)
            {
                LogFailed(interval.TotalSeconds, failure.Message);
            }
        }
    }

    [LoggerMessage(Level = LogLevel.Warning, Message = "Recovery failed, and runs again in {Seconds} s: {Reason}")]
    private partial void LogFailed(double seconds, string reason);
}
