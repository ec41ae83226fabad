using RabbitMQ.Client;

namespace Kit.Endpoints.Bare.RabbitMq;

/// <summary>
/// One worker's way to its queues. It shares the inbox with the other workers and has two channels of its own: one to take messages that
/// are tried again, one to publish. Publishing has another connection than receiving: a broker that must slow publishers down stops
/// reading their connection, and acknowledgements would wait there too.
/// </summary>
internal sealed class QueueSession : IAsyncDisposable
{
    private readonly Inbox inbox;
    private readonly QueueNames names;
    private readonly IChannel retries;
    private readonly IChannel publishing;
    private readonly RetryTurn turn;
    private readonly CancellationToken stopping;
    private bool hasTurn;
    private bool isRefused;
    private int refusals;

    private QueueSession(Inbox inbox, RetryTurn turn, QueueNames names, IChannel retries, IChannel publishing, CancellationToken stopping)
    {
        this.stopping = stopping;
        this.inbox = inbox;
        this.turn = turn;
        this.names = names;
        this.retries = retries;
        this.publishing = publishing;
    }

    public static async Task<QueueSession> OpenAsync(
        Inbox inbox, RetryTurn turn, QueueNames names,
        IConnection receiving, IConnection sending,
        CancellationToken stopping, CancellationToken cancellationToken) =>
        new(
            inbox, turn, names,
            await receiving.CreateChannelAsync(cancellationToken: cancellationToken),
            await sending.OpenConfirmedChannelAsync(cancellationToken),
            stopping);

    /// <summary>The next message, those that are tried again before the others; <see langword="null"/> when there is none for now.</summary>
    public async Task<Delivery?> ReceiveAsync()
    {
        GiveTurnBack();
        refusals = isRefused ? refusals : 0;
        isRefused = false;
        while (!inbox.IsAcknowledged && !inbox.IsFinished && turn.TryTake())
        {
            hasTurn = true;
            // Taken one by one, not pushed: what is out of this queue has been begun, and redelivered there means that its handling was cut off.
            if (await retries.BasicGetAsync(names.Retries, autoAck: false) is { } retry)
            {
                turn.Ask();
                // At a stop it is handled at once: given back, it would be taken for one whose handling was cut off.
                await Task.Delay(AmqpMessage.DelayOf(retry.BasicProperties), stopping).ConfigureAwait(ConfigureAwaitOptions.SuppressThrowing);
                return new Delivery(retries, retry.DeliveryTag, retry.BasicProperties, retry.Body.ToArray(), retry.Redelivered) { IsRetry = true };
            }

            GiveTurnBack();
        }

        return await inbox.TakeAsync(RetryTurn.Interval);
    }

    /// <summary>Publishes messages and waits until the broker has them.</summary>
    public async Task SendAsync(IReadOnlyCollection<OutgoingMessage> messages)
    {
        if (messages.Count == 0)
            return;

        await Task.WhenAll(messages.Select(message => PublishAsync(message.Queue, AmqpMessage.PropertiesOf(message), message.Body)));
    }

    /// <summary>Puts a message into the queue of those that are tried again; it is still to be acknowledged.</summary>
    /// <param name="message">The message.</param>
    /// <param name="failedAttempts">How often it was handled without success.</param>
    /// <param name="delay">How long it is to wait there.</param>
    public async Task MoveToRetriesAsync(Delivery message, int failedAttempts, TimeSpan delay)
    {
        await PublishAsync(names.Retries, message.Properties.WithFailures(failedAttempts).NotBefore(delay), message.Body);
        turn.Ask();
    }

    /// <summary>Waits because the handlers' database refuses, longer each time until a message comes through.</summary>
    public async Task PauseAsync(TimeSpan first)
    {
        GiveTurnBack();
        isRefused = true;
        await Task.Delay(BackOff.After(refusals++, first), stopping).ConfigureAwait(ConfigureAwaitOptions.SuppressThrowing);
    }

    /// <summary>Puts a message into the error queue; it is still to be acknowledged.</summary>
    public Task MoveToErrorsAsync(Delivery message, int failedAttempts, string reason) =>
        PublishAsync(names.Errors, message.Properties.WithFailures(failedAttempts, reason), message.Body);

    public async ValueTask DisposeAsync()
    {
        await retries.DisposeAsync();
        await publishing.DisposeAsync();
    }

    private void GiveTurnBack()
    {
        if (hasTurn)
            turn.GiveBack();

        hasTurn = false;
    }

    private Task PublishAsync(string queue, BasicProperties properties, byte[] body) =>
        publishing.PublishConfirmedAsync(queue, properties, body);
}
