using System.Diagnostics;
using RabbitMQ.Client;
using RabbitMQ.Client.Exceptions;

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
    private readonly Publisher publisher;
    private readonly RetryTurn turn;
    private readonly CancellationToken stopping;
    private readonly CancellationToken abandoning;
    private Delivery? begun;
    private bool hasTurn;
    private bool isRefused;
    private bool hasPutAside;
    private int refusals;

    private QueueSession(
        Inbox inbox, RetryTurn turn, QueueNames names, IChannel retries, Publisher publisher, CancellationToken stopping, CancellationToken abandoning)
    {
        this.stopping = stopping;
        this.abandoning = abandoning;
        this.inbox = inbox;
        this.turn = turn;
        this.names = names;
        this.retries = retries;
        this.publisher = publisher;
    }

    /// <summary>Whether a message taken now can no longer be answered, or its sends no longer leave.</summary>
    private bool IsLost => !retries.IsOpen || !publisher.IsOpen;

    /// <param name="inbox">The endpoint's inbox.</param>
    /// <param name="turn">Who may take a retry.</param>
    /// <param name="names">The queues.</param>
    /// <param name="receiving">The connection of the inbox.</param>
    /// <param name="publisher">Publishes on another connection. The session disposes it.</param>
    /// <param name="stopping">The endpoint stops.</param>
    /// <param name="abandoning">The host no longer waits for it.</param>
    public static async Task<QueueSession> OpenAsync(
        Inbox inbox, RetryTurn turn, QueueNames names, IConnection receiving, Publisher publisher,
        CancellationToken stopping, CancellationToken abandoning) =>
        new(inbox, turn, names, await receiving.CreateChannelAsync(cancellationToken: abandoning), publisher, stopping, abandoning);

    /// <summary>Receives the next message, retries first; <see langword="null"/> if there is none at the moment.</summary>
    public async Task<Delivery?> ReceiveAsync()
    {
        GiveTurnBack();
        refusals = isRefused ? refusals : 0;
        // A message that meets a shortage by itself is the first retry again and again: others have their turn in between.
        // So is one that the error queue refuses.
        var others = isRefused || hasPutAside ? await inbox.TakeAsync(TimeSpan.Zero) : null;
        isRefused = hasPutAside = false;
        if (others is not null)
            return others;

        while (!inbox.IsAcknowledged && !inbox.IsFinished && turn.TryTake())
        {
            hasTurn = true;
            // Taken one at a time, not pushed: a message taken from this queue is always begun, so redelivered means that its handling was cut off.
            if (await retries.BasicGetAsync(names.Retries, autoAck: false) is { } retry)
            {
                turn.Ask();
                // When the endpoint stops, it is handled at once: if it were given back, it would look as if its handling had been cut off.
                await WaitAsync(AmqpMessage.DelayOf(retry.BasicProperties));
                if (IsLost)
                    return null;
                return begun = new Delivery(retries, retry.DeliveryTag, retry.BasicProperties, retry.Body.ToArray(), retry.Redelivered)
                {
                    IsRetry = true,
                    OtherRetries = retry.MessageCount,
                };
            }

            GiveTurnBack();
        }

        var pushed = await inbox.TakeAsync(RetryTurn.Interval);
        // Nothing else asks the broker where nothing is acknowledged, and its silence would count as an answer.
        if (pushed is null && inbox.IsAcknowledged && !inbox.IsFinished)
            await retries.QueueDeclarePassiveAsync(names.Queue, abandoning);
        return pushed;
    }

    /// <summary>Publishes messages and waits until the broker has confirmed them.</summary>
    public async Task SendAsync(IReadOnlyCollection<OutgoingMessage> messages)
    {
        if (messages.Count == 0)
            return;

        await Task.WhenAll(messages.Select(message => publisher.PublishAsync(message, abandoning)));
    }

    /// <summary>Publishes a message to the retry queue. The caller must still acknowledge it.</summary>
    /// <param name="message">The message.</param>
    /// <param name="failedAttempts">How many attempts have failed.</param>
    /// <param name="delay">How long it must wait there.</param>
    public async Task MoveToRetriesAsync(Delivery message, int failedAttempts, TimeSpan delay)
    {
        message.IsSettled = true;
        await publisher.PublishAsync(names.Retries, message.Properties.ForRetry(failedAttempts, delay), message.Body, abandoning);
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
    public Task MoveToErrorsAsync(Delivery message, DeadLetter letter) => PublishAsync(names.Errors, message, letter);

    /// <summary>
    /// Publishes a message that the error queue refuses to the end of the retry queue, from where it tries again. The caller must still acknowledge it.
    /// </summary>
    public async Task PutAsideAsync(Delivery message, DeadLetter letter)
    {
        await PublishAsync(names.Retries, message, letter);
        hasPutAside = true;
        if (message.IsGivenUp)
            turn.NoteRefused(message.OtherRetries);
        else
            turn.Ask();
    }

    public async ValueTask DisposeAsync()
    {
        if (abandoning.IsCancellationRequested)
            await GiveBackAsync();
        await retries.DisposeAsync();
        publisher.Dispose();
    }

    /// <summary>
    /// Publishes a message that is given up. If its headers and the reason do not fit into a frame, or the driver cannot write its properties again, only its
    /// id, its type and its body go there.
    /// </summary>
    private async Task PublishAsync(string queue, Delivery message, DeadLetter letter)
    {
        message.IsSettled = true;
        try
        {
            await publisher.PublishAsync(queue, message.Properties.ForErrors(letter), message.Body, abandoning);
        }
        catch (BrokerException unfit) when (unfit.IsOfTheMessage)
        {
            var withoutThem = letter with { Reason = $"{letter.Reason} Its headers and other properties are left out. {unfit.Message}" };
            await publisher.PublishAsync(queue, message.Properties.WithoutTheOthers().ForErrors(withoutThem), message.Body, abandoning);
        }
    }

    /// <summary>Waits with a retry, unless the endpoint stops, or the session is lost and the broker gets the message again.</summary>
    private async Task WaitAsync(TimeSpan delay)
    {
        for (var watch = Stopwatch.StartNew(); delay > watch.Elapsed && !IsLost && !stopping.IsCancellationRequested;)
            await Task.Delay(TimeSpan.FromMilliseconds(Math.Clamp((delay - watch.Elapsed).TotalMilliseconds, 0, 250)), stopping)
                .ConfigureAwait(ConfigureAwaitOptions.SuppressThrowing);
    }

    /// <summary>
    /// Puts back a retry whose handler the host no longer waits for, and of which nothing commits any more. If it were redelivered, its handling would look cut
    /// off, and count.
    /// </summary>
    private async Task GiveBackAsync()
    {
        if (begun is not { IsSettled: false, IsRedelivered: false } unhandled || IsLost)
            return;

        try
        {
            await MoveToRetriesAsync(unhandled, unhandled.FailedAttempts, delay: TimeSpan.Zero);
            await unhandled.AcknowledgeAsync();
        }
        catch (Exception gone) when (gone is BrokerException or OperationInterruptedException or OperationCanceledException or ObjectDisposedException)
        {
            // It is redelivered, and counted.
        }
    }

    private void GiveTurnBack()
    {
        if (hasTurn)
            turn.GiveBack();

        hasTurn = false;
    }
}
