using Kit.Endpoints.Bare.Health;
using Microsoft.Extensions.Logging;
using RabbitMQ.Client;

namespace Kit.Endpoints.Bare.RabbitMq;

/// <summary>The connections of an endpoint, its inbox and its workers, until the host stops or a connection is lost.</summary>
internal sealed class Session : IAsyncDisposable
{
    private readonly IConnection receiving;
    private readonly SendingConnection sending;
    private readonly Inbox inbox;
    private readonly List<IReceiver> receivers = [];

    private Session(IConnection receiving, SendingConnection sending, Inbox inbox)
    {
        this.receiving = receiving;
        this.sending = sending;
        this.inbox = inbox;
    }

    /// <summary>How many acknowledged messages only this process has and no worker has begun.</summary>
    public int Unbegun => inbox.IsAcknowledged ? inbox.Count : 0;

    /// <exception cref="BrokerException">The broker cannot be reached, or its queues are not as expected.</exception>
    public static async Task<Session> OpenAsync(
        RabbitMqSettings settings, QueueNames names, string name, bool autoAcknowledge, bool isFirst, ILogger log, CancellationToken cancellationToken)
    {
        var forReceiving = await Broker.ConnectAsync(settings.Address, $"{name} receiving", cancellationToken);
        SendingConnection? forSending = null;
        try
        {
            forSending = await SendingConnection.OpenAsync(settings.Address, $"{name} sending", Timeout.InfiniteTimeSpan, cancellationToken);
            // Each time: what somebody deleted and made again while the connection was lost can be another queue.
            await new QueueCheck(names, settings.Address, log) { MayBeNew = isFirst }.RunAsync(forReceiving, cancellationToken);
            var opened = await Inbox.OpenAsync(forReceiving, names.Queue, settings.Prefetch, autoAcknowledge, cancellationToken);
            Watch(forSending.Connection, opened, log);
            return new Session(forReceiving, forSending, opened);
        }
        catch
        {
            await forReceiving.DisposeAsync();
            if (forSending is not null)
                await forSending.DisposeAsync();
            throw;
        }
    }

    /// <summary>Runs workers until <paramref name="stopping"/>, and waits for them to finish.</summary>
    /// <exception cref="BrokerException">A connection was lost, or the queue deleted, also if every worker could finish its message.</exception>
    public async Task RunAsync(
        BareEndpointBuilder endpoint, QueueNames names, Func<QueueSession, Task<IReceiver>> receiverOf,
        CancellationToken stopping, CancellationToken abandoning)
    {
        var turn = new RetryTurn();
        for (var worker = 0; worker < endpoint.Concurrency; worker++)
        {
            var publisher = new Publisher(sending);
            receivers.Add(await receiverOf(await QueueSession.OpenAsync(inbox, turn, names, receiving, publisher, stopping, abandoning)));
        }

        Task ending = Task.CompletedTask;
        await using (stopping.Register(() => ending = inbox.EndAsync()))
            await Task.WhenAll(receivers.Select(receiver => Task.Run(() => WorkAsync(receiver, endpoint.Status, abandoning), CancellationToken.None)));
        await ending;
        if (inbox.Failure is { } failure && !stopping.IsCancellationRequested)
            throw new BrokerException(failure);
    }

    public async ValueTask DisposeAsync()
    {
        foreach (var receiver in receivers)
            await receiver.DisposeAsync();

        await inbox.DisposeAsync();
        await receiving.DisposeAsync();
        await sending.DisposeAsync();
    }

    private static void Watch(IConnection sending, Inbox inbox, ILogger log)
    {
        sending.ConnectionShutdownAsync += (_, reason) =>
        {
            inbox.Break($"The connection to the broker was lost: {reason.ReplyText}.");
            return Task.CompletedTask;
        };
        sending.ConnectionBlockedAsync += (_, blocked) =>
        {
            RabbitMqEndpoint.LogBlocked(log, blocked.Reason);
            return Task.CompletedTask;
        };
    }

    private async Task WorkAsync(IReceiver receiver, EndpointStatus status, CancellationToken abandoning)
    {
        try
        {
            while (!inbox.IsFinished && !abandoning.IsCancellationRequested)
            {
                if (await receiver.ReceiveAsync(abandoning) is not null)
                    status.Received();
            }
        }
        catch (Exception failure)
        {
            // The other workers finish their messages, and the endpoint starts a new session.
            inbox.Break(failure.Message);
            throw;
        }
    }
}
