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

    private SendingConnection(IConnection connection)
    {
        Connection = connection;
        ended.SetResult();
        connection.ConnectionBlockedAsync += (_, blocked) => Begin(blocked.Reason);
        connection.ConnectionUnblockedAsync += (_, _) => End();
        // Nobody waits for a connection that is lost.
        connection.ConnectionShutdownAsync += (_, _) => End();
    }

    public IConnection Connection { get; }

    /// <summary>Completed while it is blocked.</summary>
    public Task Blocked => begun.Task;

    /// <summary>Completed while it is not.</summary>
    public Task Unblocked => ended.Task;

    /// <summary>The broker's reason for the latest blockage.</summary>
    public string Reason { get; private set; } = "";

    /// <inheritdoc cref="Broker.ConnectAsync"/>
    public static async Task<SendingConnection> OpenAsync(RabbitMqAddress address, string name, CancellationToken cancellationToken) =>
        new(await Broker.ConnectAsync(address, name, cancellationToken));

    /// <summary>Closes it.</summary>
    public async ValueTask DisposeAsync()
    {
        // The broker does not answer on a blocked connection. The driver gives an abort 5 s, closes the socket, and would wait another 20 s to dispose it.
        if (Blocked.IsCompleted)
            await Connection.AbortAsync();
        else
            await Connection.DisposeAsync();
    }

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
