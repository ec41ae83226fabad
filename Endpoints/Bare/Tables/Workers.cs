using Kit.Endpoints.Bare.Health;
using Microsoft.Extensions.Logging;

namespace Kit.Endpoints.Bare.Tables;

/// <summary>The workers of one endpoint. They poll its table from start to stop. A failure is logged, and the worker starts again.</summary>
/// <param name="firstPause">The pause after a failure; doubled each time until a receive succeeds, as in <see cref="BackOff"/>.</param>
/// <param name="status">Notes each receive.</param>
/// <param name="handlers">The endpoint's running handlers.</param>
/// <param name="log">Logs each failure.</param>
internal sealed partial class Workers(TimeSpan firstPause, EndpointStatus status, RunningHandlers handlers, ILogger log) : IDisposable
{
    private static readonly TimeSpan ShortestPoll = TimeSpan.FromMilliseconds(10);
    private static readonly TimeSpan LongestPoll = TimeSpan.FromMilliseconds(160);

    private readonly CancellationTokenSource stopping = new();
    private readonly CancellationTokenSource abandoning = new();
    private readonly List<Task> running = [];
    private Task? ending;

    /// <summary>Cancelled when the workers stop receiving.</summary>
    public CancellationToken Stopping => stopping.Token;

    /// <summary>Cancelled when the host no longer waits for handlers.</summary>
    public CancellationToken Abandoned => abandoning.Token;

    /// <param name="count">The number of workers.</param>
    /// <param name="open">Opens a worker's receiver; called again after a connection was lost.</param>
    /// <param name="answer">
    /// Answers, on a new session, an attempt whose own session was lost. It is repeated only after an <see cref="AttemptLostException"/>.
    /// </param>
    public void Start(int count, Func<Task<IReceiver>> open, Func<AttemptLostException, Task> answer)
    {
        for (var worker = 0; worker < count; worker++)
            running.Add(OwnContext.Run(() => WorkAsync(open, answer)));
    }

    /// <summary>Repeats some work next to the workers until they stop.</summary>
    public void Repeat(TimeSpan interval, Func<CancellationToken, Task> work) => running.Add(OwnContext.Run(() => RepeatAsync(interval, work)));

    /// <summary>Stops receiving and waits for the running handlers. When the host stops waiting, they are cancelled, and left if they go on.</summary>
    /// <param name="end">Ends what the workers share, when none runs any more.</param>
    /// <param name="cancellationToken">Cancelled when the host stops waiting.</param>
    public async Task StopAsync(Func<Task> end, CancellationToken cancellationToken)
    {
        if (!stopping.IsCancellationRequested)
            await stopping.CancelAsync();
        await handlers.StopAsync(ending ??= EndAsync(end), abandoning, log, cancellationToken);
    }

    public void Dispose()
    {
        // A handler that was left still has its token.
        if (ending is not { IsCompleted: true })
            return;

        stopping.Dispose();
        abandoning.Dispose();
    }

    private async Task EndAsync(Func<Task> end)
    {
        await Task.WhenAll(running);
        await end();
    }

    private async Task WorkAsync(Func<Task<IReceiver>> open, Func<AttemptLostException, Task> answer)
    {
        var backOff = new BackOff(firstPause);
        AttemptLostException? unanswered = null;
        while (!stopping.IsCancellationRequested)
        {
            try
            {
                if (unanswered is not null)
                {
                    await answer(unanswered);
                    unanswered = null;
                }

                await using var receiver = await open();
                await ReceiveAsync(receiver, backOff);
            }
            catch (AttemptLostException lost)
            {
                LogSessionLost(lost.QueuedMessage.MessageId, lost.Message);
                // The first time without a pause: the server may still be reachable.
                if (unanswered is not null)
                    await PauseAsync(backOff.Next());
                unanswered = lost;
            }
            catch (Exception failure) when (!stopping.IsCancellationRequested)
            {
                // It was answered, or a session that works cannot answer it: the message is back in the queue.
                unanswered = null;
                var pause = backOff.Next();
                LogDisturbed(failure.Message, pause.TotalSeconds);
                await PauseAsync(pause);
            }
            catch (Exception failure)
            {
                LogAbandoned(failure.Message);
            }
        }

        if (unanswered is not null)
            await AnswerAtLastAsync(answer, unanswered);
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

    [LoggerMessage(Level = LogLevel.Warning, Message = "{Reason} Next try in {Seconds} s.")]
    private partial void LogDisturbed(string reason, double seconds);

    [LoggerMessage(Level = LogLevel.Warning, Message = "The session that received message {MessageId} was lost: {Reason} A new session counts the attempt.")]
    private partial void LogSessionLost(Guid messageId, string reason);

    [LoggerMessage(Level = LogLevel.Warning, Message = "The endpoint stops without having counted an attempt at message {MessageId}: {Reason}")]
    private partial void LogUncounted(Guid messageId, string reason);

    [LoggerMessage(Level = LogLevel.Warning, Message = "A worker was abandoned while the endpoint stopped: {Reason}")]
    private partial void LogAbandoned(string reason);
}
