using RabbitMQ.Client;

namespace Kit.Endpoints.Bare.RabbitMq;

/// <summary>
/// One worker's access to its queues. It shares the inbox with the other workers and has two channels of its own: one to take retries, one to
/// publish. Publishing and receiving use different connections: a broker that throttles publishers stops reading their connection, and
/// acknowledgements would wait there too.
/// </summary>
internal sealed class QueueSession : IAsyncDisposable
{
    private readonly Inbox inbox;
    private readonly QueueNames names;
    private readonly IChannel retries;
    private readonly IChannel publishing;
    private readonly EventExchanges exchanges;
    private readonly RetryTurn turn;
    private readonly CancellationToken stopping;
    private bool hasTurn;
    private bool isRefused;
    private int refusals;

    private QueueSession(
        Inbox inbox, RetryTurn turn, QueueNames names, IChannel retries, IChannel publishing, EventExchanges exchanges, CancellationToken stopping)
    {
        this.stopping = stopping;
        this.exchanges = exchanges;
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
            new EventExchanges(sending),
            stopping);

    /// <summary>Receives the next message, retries first; <see langword="null"/> if there is none at the moment.</summary>
    public async Task<Delivery?> ReceiveAsync()
    {
        GiveTurnBack();
        refusals = isRefused ? refusals : 0;
        isRefused = false;
        while (!inbox.IsAcknowledged && !inbox.IsFinished && turn.TryTake())
        {
            hasTurn = true;
            // Taken one at a time, not pushed: a message taken from this queue is always begun, so redelivered means that its handling was cut off.
            if (await retries.BasicGetAsync(names.Retries, autoAck: false) is { } retry)
            {
                turn.Ask();
                // When the endpoint stops, it is handled at once: if it were given back, it would look as if its handling had been cut off.
                await Task.Delay(AmqpMessage.DelayOf(retry.BasicProperties), stopping).ConfigureAwait(ConfigureAwaitOptions.SuppressThrowing);
                return new Delivery(retries, retry.DeliveryTag, retry.BasicProperties, retry.Body.ToArray(), retry.Redelivered) { IsRetry = true };
            }

            GiveTurnBack();
        }

        return await inbox.TakeAsync(RetryTurn.Interval);
    }

    /// <summary>Publishes messages and waits until the broker has confirmed them.</summary>
    public async Task SendAsync(IReadOnlyCollection<OutgoingMessage> messages)
    {
        if (messages.Count == 0)
            return;

        await Task.WhenAll(messages.Select(message => publishing.PublishConfirmedAsync(message, exchanges)));
    }

    /// <summary>Publishes a message to the retry queue. The caller must still acknowledge it.</summary>
    /// <param name="message">The message.</param>
    /// <param name="failedAttempts">How many attempts have failed.</param>
    /// <param name="delay">How long it must wait there.</param>
    public async Task MoveToRetriesAsync(Delivery message, int failedAttempts, TimeSpan delay)
    {
        await PublishAsync(names.Retries, message.Properties.WithFailures(failedAttempts).NotBefore(delay), message.Body);
        turn.Ask();
    }

    /// <summary>Waits because the handlers' database refuses, longer each time until it accepts again.</summary>
    public async Task PauseAsync(TimeSpan first)
    {
        GiveTurnBack();
        isRefused = true;
        await Task.Delay(BackOff.After(refusals++, first), stopping).ConfigureAwait(ConfigureAwaitOptions.SuppressThrowing);
    }

    /// <summary>Publishes a message to the error queue. The caller must still acknowledge it.</summary>
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
