using Microsoft.Extensions.Logging;

namespace Kit.Endpoints.Bare.Tables;

/// <summary>The workers of one endpoint, which poll its table from start to stop; what disturbs one is reported, and it starts anew.</summary>
internal sealed partial class Workers(ILogger log) : IDisposable
{
    private static readonly TimeSpan ShortestPoll = TimeSpan.FromMilliseconds(10);
    private static readonly TimeSpan LongestPoll = TimeSpan.FromMilliseconds(160);
    private static readonly TimeSpan Reconnect = TimeSpan.FromSeconds(1);

    private readonly CancellationTokenSource stopping = new();
    private readonly CancellationTokenSource abandoning = new();
    private readonly List<Task> running = [];

    /// <summary>Cancelled when the host no longer waits for handlers.</summary>
    public CancellationToken Abandoned => abandoning.Token;

    /// <param name="count">How many workers.</param>
    /// <param name="open">What each of them receives with; asked again when a connection was lost.</param>
    public void Start(int count, Func<Task<IReceiver>> open)
    {
        for (var worker = 0; worker < count; worker++)
            running.Add(Task.Run(() => WorkAsync(open), CancellationToken.None));
    }

    /// <summary>Does something beside the workers, again and again until they stop.</summary>
    public void Repeat(TimeSpan interval, Func<CancellationToken, Task> work) => running.Add(RepeatAsync(interval, work));

    /// <summary>Stops receiving and waits for the handlers under way; when the host stops waiting, they are cancelled.</summary>
    public async Task StopAsync(CancellationToken cancellationToken)
    {
        await stopping.CancelAsync();
        await using (cancellationToken.Register(abandoning.Cancel))
            await Task.WhenAll(running);
    }

    public void Dispose()
    {
        stopping.Dispose();
        abandoning.Dispose();
    }

    private async Task WorkAsync(Func<Task<IReceiver>> open)
    {
        while (!stopping.IsCancellationRequested)
        {
            try
            {
                await using var receiver = await open();
                await ReceiveAsync(receiver);
            }
            catch (Exception failure) when (!stopping.IsCancellationRequested)
            {
                LogDisturbed(failure.Message, Reconnect.TotalSeconds);
                await PauseAsync(Reconnect);
            }
            catch (Exception failure)
            {
                LogAbandoned(failure.Message);
            }
        }
    }

    private async Task ReceiveAsync(IReceiver receiver)
    {
        var poll = ShortestPoll;
        while (!stopping.IsCancellationRequested)
        {
            if (await receiver.ReceiveAsync(abandoning.Token))
            {
                poll = ShortestPoll;
                continue;
            }

            await PauseAsync(poll);
            poll = poll * 2 < LongestPoll ? poll * 2 : LongestPoll;
        }
    }

    private async Task RepeatAsync(TimeSpan interval, Func<CancellationToken, Task> work)
    {
        while (!stopping.IsCancellationRequested)
        {
            await PauseAsync(interval);
            try
            {
                await work(abandoning.Token);
            }
            catch (Exception failure)
            {
                LogDisturbed(failure.Message, interval.TotalSeconds);
            }
        }
    }

    private Task PauseAsync(TimeSpan pause) => Task.Delay(pause, stopping.Token).ContinueWith(_ => { }, CancellationToken.None, TaskContinuationOptions.ExecuteSynchronously, TaskScheduler.Default);

    [LoggerMessage(Level = LogLevel.Warning, Message = "{Reason} Tried again in {Seconds} s.")]
    private partial void LogDisturbed(string reason, double seconds);

    [LoggerMessage(Level = LogLevel.Warning, Message = "Abandoned while stopping: {Reason}")]
    private partial void LogAbandoned(string reason);
}
