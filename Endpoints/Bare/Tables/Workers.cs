using Kit.Endpoints.Bare.Health;
using Microsoft.Extensions.Logging;

namespace Kit.Endpoints.Bare.Tables;

/// <summary>The workers of one endpoint, which poll its table from start to stop; what disturbs one is reported, and it starts anew.</summary>
/// <param name="firstPause">After a disturbance; doubled each time until a receive succeeds, as <see cref="BackOff"/> says.</param>
/// <param name="status">Told of each receive.</param>
/// <param name="log">Told of each disturbance.</param>
internal sealed partial class Workers(TimeSpan firstPause, EndpointStatus status, ILogger log) : IDisposable
{
    private static readonly TimeSpan ShortestPoll = TimeSpan.FromMilliseconds(10);
    private static readonly TimeSpan LongestPoll = TimeSpan.FromMilliseconds(160);

    private readonly CancellationTokenSource stopping = new();
    private readonly CancellationTokenSource abandoning = new();
    private readonly List<Task> running = [];

    /// <summary>Cancelled when the host no longer waits for handlers.</summary>
    public CancellationToken Abandoned => abandoning.Token;

    /// <param name="count">How many workers.</param>
    /// <param name="open">What each of them receives with; asked again when a connection was lost.</param>
    /// <param name="answer">Counts, on a new session, an attempt whose own session was lost.</param>
    public void Start(int count, Func<Task<IReceiver>> open, Func<AttemptLostException, Task> answer)
    {
        for (var worker = 0; worker < count; worker++)
            running.Add(OwnContext.Run(() => WorkAsync(open, answer)));
    }

    /// <summary>Does something next to the workers, again and again until they stop.</summary>
    public void Repeat(TimeSpan interval, Func<CancellationToken, Task> work) => running.Add(OwnContext.Run(() => RepeatAsync(interval, work)));

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

    private async Task WorkAsync(Func<Task<IReceiver>> open, Func<AttemptLostException, Task> answer)
    {
        var backOff = new BackOff(firstPause);
        AttemptLostException? uncounted = null;
        while (!stopping.IsCancellationRequested)
        {
            try
            {
                if (uncounted is not null)
                {
                    await answer(uncounted);
                    uncounted = null;
                }

                await using var receiver = await open();
                await ReceiveAsync(receiver, backOff);
            }
            catch (AttemptLostException lost)
            {
                LogSessionLost(lost.QueuedMessage.MessageId, lost.Message);
                // The first time at once: the server may well be there.
                if (uncounted is not null)
                    await PauseAsync(backOff.Next());
                uncounted = lost;
            }
            catch (Exception failure) when (!stopping.IsCancellationRequested)
            {
                var pause = backOff.Next();
                LogDisturbed(failure.Message, pause.TotalSeconds);
                await PauseAsync(pause);
            }
            catch (Exception failure)
            {
                LogAbandoned(failure.Message);
            }
        }

        if (uncounted is not null)
            await AnswerAtLastAsync(answer, uncounted);
    }

    private async Task AnswerAtLastAsync(Func<AttemptLostException, Task> answer, AttemptLostException lost)
    {
        try
        {
            await answer(lost);
        }
        catch (Exception failure)
        {
            LogUncounted(lost.QueuedMessage.MessageId, failure.Message);
        }
    }

    private async Task ReceiveAsync(IReceiver receiver, BackOff backOff)
    {
        var poll = ShortestPoll;
        while (!stopping.IsCancellationRequested)
        {
            var hasHandled = await receiver.ReceiveAsync(abandoning.Token);
            if (hasHandled is not null)
                status.Received();
            backOff.Reset();
            if (hasHandled is true)
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

    private async Task PauseAsync(TimeSpan pause) => await Task.Delay(pause, stopping.Token).ConfigureAwait(ConfigureAwaitOptions.SuppressThrowing);

    [LoggerMessage(Level = LogLevel.Warning, Message = "{Reason} Tried again in {Seconds} s.")]
    private partial void LogDisturbed(string reason, double seconds);

    [LoggerMessage(Level = LogLevel.Warning, Message = "The session that received message {MessageId} was lost: {Reason} The attempt is counted on a new one.")]
    private partial void LogSessionLost(Guid messageId, string reason);

    [LoggerMessage(Level = LogLevel.Warning, Message = "An attempt at message {MessageId} is not counted, and the endpoint stops: {Reason}")]
    private partial void LogUncounted(Guid messageId, string reason);

    [LoggerMessage(Level = LogLevel.Warning, Message = "Abandoned while stopping: {Reason}")]
    private partial void LogAbandoned(string reason);
}
