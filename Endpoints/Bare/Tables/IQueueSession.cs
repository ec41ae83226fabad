using System.Data.Common;

namespace Kit.Endpoints.Bare.Tables;

/// <summary>
/// One worker's connection to a queue that is a table. Statements run in the transaction that <see cref="BeginAsync"/> opened, or on their
/// own. None takes a cancellation token: a cancelled receive could have committed, and its message would be gone.
/// </summary>
internal interface IQueueSession : IAsyncDisposable
{
    /// <summary>Whether the connection is still there, as far as the driver knows.</summary>
    bool IsOpen { get; }

    ValueTask<DbTransaction> BeginAsync();

    /// <summary>The first message that no other worker has, or <see langword="null"/>.</summary>
    Task<QueuedMessage?> ReceiveAsync();

    Task SendAsync(IReadOnlyCollection<OutgoingMessage> messages);

    /// <summary>Puts a message back for its next attempt, which comes when the delay is over.</summary>
    Task RequeueAsync(QueuedMessage message, TimeSpan delay);

    Task MoveToErrorsAsync(QueuedMessage message, Exception reason);

    /// <summary>
    /// Takes a message that was rolled back into the queue, to count its failure; <see langword="null"/> when another worker ended it meanwhile.
    /// </summary>
    Task<QueuedMessage?> TakeAsync(QueuedMessage message);

    /// <summary>Whether a statement failed because an earlier failure had ended the transaction that it belongs to.</summary>
    bool HasLostTransaction(Exception failure);
}
