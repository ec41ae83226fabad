using Kit.Runner.Results;

namespace Kit.Runner.Measuring;

/// <summary>The messages of a load that the transport has confirmed.</summary>
/// <param name="longest">Time limit of a send. A broker with an alarm, or a server with a full disk, can block it for ever.</param>
internal sealed class ConfirmedSends(TimeSpan longest)
{
    /// <summary>Longer than a checkpoint or a lock timeout delays a healthy server.</summary>
    public static readonly TimeSpan Longest = TimeSpan.FromSeconds(30);

    private readonly Lock adding = new();
    private readonly List<SentMessage> confirmed = [];

    public int Count
    {
        get
        {
            lock (adding)
                return confirmed.Count;
        }
    }

    /// <summary>The messages confirmed so far.</summary>
    public IReadOnlyList<SentMessage> All
    {
        get
        {
            lock (adding)
                return [.. confirmed];
        }
    }

    /// <summary>The confirmed messages from an index on, in the order in which they were confirmed.</summary>
    /// <param name="index">From 0.</param>
    public IReadOnlyList<SentMessage> From(int index)
    {
        lock (adding)
            return confirmed[index..];
    }

    /// <summary>Sends, and waits for the confirmation.</summary>
    /// <exception cref="KitException">There was none in time. It is not known if the messages are in the queue.</exception>
    public async Task SendAsync(IProducer producer, IReadOnlyCollection<SentMessage> messages)
    {
        using var late = new CancellationTokenSource();
        var send = producer.SendAsync([.. messages.Select(one => one.Message)], late.Token);
        try
        {
            await send.WaitAsync(longest, CancellationToken.None);
        }
        catch (TimeoutException failure) when (!send.IsCompleted)
        {
            await late.CancelAsync();
            // Nobody waits for it any more.
            _ = send.ContinueWith(ended => ended.Exception, CancellationToken.None, TaskContinuationOptions.OnlyOnFaulted, TaskScheduler.Default);
            throw new KitException(
                $"The transport did not confirm a send within {Figures.Measured(longest.TotalSeconds)} s.",
                "Look into the server's log: its disk is full, or RabbitMQ blocks publishers because of an alarm.",
                failure);
        }

        lock (adding)
            confirmed.AddRange(messages);
    }
}
