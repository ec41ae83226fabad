using System.Data.Common;

namespace Kit.Endpoints.Bare.Tables;

/// <summary>
/// One worker's connection to a queue that is a table. Statements run in the transaction that <see cref="BeginAsync"/> opened, or autocommit.
/// None takes a cancellation token: a cancelled receive could have committed, and its message would be lost.
/// </summary>
internal interface IQueueSession : IAsyncDisposable
{
    /// <summary>Whether the connection is still open, as far as the driver knows.</summary>
    bool IsOpen { get; }

    ValueTask<DbTransaction> BeginAsync();

    /// <summary>Receives the first message that no other worker has; <see langword="null"/> if there is none.</summary>
    Task<QueuedMessage?> ReceiveAsync();

    Task SendAsync(IReadOnlyCollection<OutgoingMessage> messages);

    /// <summary>Puts a message back for its next attempt, which follows after the delay.</summary>
    Task RequeueAsync(QueuedMessage message, TimeSpan delay);

    Task MoveToErrorsAsync(QueuedMessage message, Exception reason);

    /// <summary>
    /// Takes a message that a roll-back has returned to the queue, to count its failure; <see langword="null"/> if another worker has finished it.
    /// </summary>
    Task<QueuedMessage?> TakeAsync(QueuedMessage message);

    /// <summary>Whether a statement failed because an earlier failure had ended the transaction that it belongs to.</summary>
    bool HasLostTransaction(Exception failure);
}
