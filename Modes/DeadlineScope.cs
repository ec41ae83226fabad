using System.Diagnostics;
using System.Transactions;

namespace Kit.Modes;

/// <summary>
/// A TransactionScope for a handler that opens its own connections, as a framework's handlers do. Its time-out leaves no work half done.
/// </summary>
/// <remarks>
/// <para>
/// When a scope times out, System.Transactions rolls it back on a timer thread while the handler runs. Npgsql then un-enlists the handler's
/// connection, and later statements on it autocommit. This scope therefore has the longest time-out that the process allows, which keeps all
/// of the handler's work in the transaction. The requested time-out cancels the handler's token and is checked when the handler returns: the
/// work of a late handler is rolled back.
/// </para>
/// <para>
/// The limit: if a handler ignores its token for longer than <see cref="TransactionManager.MaximumTimeout"/> (10 minutes, unless the process
/// changed it), Npgsql un-enlists its connection all the same, and later writes stay. <c>TransactionManager.MaximumTimeout =
/// TimeSpan.Zero;</c> removes the limit, and with it this problem.
/// </para>
/// </remarks>
public static class DeadlineScope
{
    /// <summary>
    /// Runs a handler in a new transaction, and commits the transaction if the handler returns in time.
    /// </summary>
    /// <param name="settings">The isolation level, and how long the handler may take.</param>
    /// <param name="handle">
    /// The handler. Its token is cancelled when the time is up. Nothing cancels it after this method has returned: what goes on longer needs a token of its
    /// own.
    /// </param>
    /// <param name="cancellationToken">Also cancels the handler's token.</param>
    /// <exception cref="TimeoutException">The handler returned or failed too late; none of its work is committed.</exception>
    /// <exception cref="TransactionAbortedException">
    /// A resource, or the longest time-out that the process allows, rolled the transaction back.
    /// </exception>
    public static async Task RunAsync(TransactionSettings settings, Func<CancellationToken, Task> handle, CancellationToken cancellationToken)
    {
        ArgumentNullException.ThrowIfNull(settings);
        ArgumentNullException.ThrowIfNull(handle);
        var timeout = settings.Timeout;
        using var deadline = CancellationTokenSource.CreateLinkedTokenSource(cancellationToken);
        deadline.CancelAfter(timeout);
        using var scope = new TransactionScope(TransactionScopeOption.RequiresNew, settings.LongestOptions, TransactionScopeAsyncFlowOption.Enabled);
        var begun = Stopwatch.GetTimestamp();
        try
        {
            await handle(deadline.Token);
        }
        catch (Exception failure) when (IsLate() && !cancellationToken.IsCancellationRequested)
        {
            throw TransactionTimeout.Exceeded(timeout, Stopwatch.GetElapsedTime(begun), failure);
        }

        if (IsLate())
            throw TransactionTimeout.Exceeded(timeout, Stopwatch.GetElapsedTime(begun));

        scope.Complete();

        // The token's timer can fire slightly early.
        bool IsLate() => Stopwatch.GetElapsedTime(begun) >= timeout || (deadline.IsCancellationRequested && !cancellationToken.IsCancellationRequested);
    }
}
