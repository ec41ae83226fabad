namespace Kit.Endpoints.Bare.Outbox;

/// <summary>The connection to the queues, for one page of a search. It is opened again if a message has ended it.</summary>
internal sealed class OutboxRoute : IAsyncDisposable
{
    private readonly Func<CancellationToken, Task<IOutboxSender>> connect;
    private IOutboxSender? sender;

    private OutboxRoute(Func<CancellationToken, Task<IOutboxSender>> connect, IOutboxSender sender)
    {
        this.connect = connect;
        this.sender = sender;
    }

    /// <summary>Connects, before anything is claimed: a connection can find out that some of it is already dispatched.</summary>
    public static async Task<OutboxRoute> OpenAsync(Func<CancellationToken, Task<IOutboxSender>> connect, CancellationToken cancellationToken) =>
        new(connect, await connect(cancellationToken));

    /// <summary>
    /// Sends a message. If that ends the connection, and another one can be opened, the message is refused: it may be the cause, and then every search
    /// would end with it.
    /// </summary>
    /// <inheritdoc cref="IOutboxSender.SendAsync"/>
    public async Task<Refusal?> SendAsync(OutgoingMessage message, CancellationToken cancellationToken)
    {
        sender ??= await connect(cancellationToken);
        try
        {
            return await sender.SendAsync(message, cancellationToken);
        }
        catch (Exception lost) when (!cancellationToken.IsCancellationRequested)
        {
            await DisposeAsync();
            sender = await connect(cancellationToken);
            return new Refusal(lost.Message, IsOfTheQueue: false);
        }
    }

    public async ValueTask DisposeAsync()
    {
        if (sender is not { } open)
            return;

        sender = null;
        try
        {
            await open.DisposeAsync();
        }
        catch (Exception gone) when (gone is not OutOfMemoryException)
        {
            // Closing a lost connection can fail, too.
        }
    }
}
