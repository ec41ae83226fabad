using RabbitMQ.Client;

namespace Kit.Endpoints.Bare.RabbitMq;

/// <summary>
/// A connection for publishing, which knows whether the broker has blocked it because of a memory or disk alarm
/// (https://www.rabbitmq.com/docs/connection-blocked). The broker then reads nothing more from it. What was published waits on the way, and arrives when the
/// alarm is over.
/// </summary>
internal sealed class SendingConnection : IAsyncDisposable
{
    private volatile TaskCompletionSource begun = NewSource();
    private volatile TaskCompletionSource ended = NewSource();

    private SendingConnection(IConnection connection, TimeSpan longestBlockage)
    {
        Connection = connection;
        LongestBlockage = longestBlockage;
        ended.SetResult();
        connection.ConnectionBlockedAsync += (_, blocked) => Begin(blocked.Reason);
        connection.ConnectionUnblockedAsync += (_, _) => End();
        // Nobody waits for a connection that is lost.
        connection.ConnectionShutdownAsync += (_, _) => End();
    }

    public IConnection Connection { get; }

    /// <summary>How long a publish waits while it is blocked; infinite: until it is cancelled.</summary>
    public TimeSpan LongestBlockage { get; }

    /// <summary>Completed while it is blocked.</summary>
    public Task Blocked => begun.Task;

    /// <summary>Completed while it is not.</summary>
    public Task Unblocked => ended.Task;

    /// <summary>The broker's reason for the latest blockage.</summary>
    public string Reason { get; private set; } = "";

    /// <param name="address">The broker.</param>
    /// <param name="name">Its name in the broker's own lists.</param>
    /// <param name="longestBlockage">How long a publish waits while it is blocked; infinite: until it is cancelled.</param>
    /// <param name="cancellationToken">Ends the attempt.</param>
    /// <exception cref="BrokerException">It cannot be opened. The message says why.</exception>
    public static async Task<SendingConnection> OpenAsync(
        RabbitMqAddress address, string name, TimeSpan longestBlockage, CancellationToken cancellationToken) =>
        // The broker answers nothing either while it blocks the connection. If the driver gave up, it would end the connection when the answer came.
        new(await Broker.ConnectAsync(address, name, answers: longestBlockage, cancellationToken), longestBlockage);

    /// <summary>Closes it, with its channels.</summary>
    /// <remarks>The driver gives an abort 5 s, and then closes the socket. To dispose the connection, it would wait for an answer that may not come.</remarks>
    public async ValueTask DisposeAsync() => await Connection.AbortAsync();

    private Task Begin(string reason)
    {
        Reason = reason;
        if (ended.Task.IsCompleted)
        {
            // In this order: whoever sees that it has begun waits for its end.
            ended = NewSource();
            begun.TrySetResult();
        }

        return Task.CompletedTask;
    }

    private Task End()
    {
        if (begun.Task.IsCompleted)
        {
            begun = NewSource();
            ended.TrySetResult();
        }

        return Task.CompletedTask;
    }

    private static TaskCompletionSource NewSource() => new(TaskCreationOptions.RunContinuationsAsynchronously);
}
