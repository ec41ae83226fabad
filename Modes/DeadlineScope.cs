using System.Diagnostics;
using System.Transactions;

namespace Kit.Modes;

/// <summary>
/// A TransactionScope around a handler that opens connections of its own, as a framework's handlers do, with a time-out that leaves nothing
/// half done.
/// </summary>
/// <remarks>
/// <para>
/// A scope that times out rolls back on a timer's thread while the handler runs. Npgsql then un-enlists the handler's connection, and what
/// the handler writes on it after that commits by itself. So this scope has the longest time-out that the process allows, and the one that
/// was asked for is judged when the handler has returned: until then all its work is in the transaction. A late handler's token is
/// cancelled, and its work is rolled back.
/// </para>
/// <para>
/// The limit: a handler that ignores its token for longer than <see cref="TransactionManager.MaximumTimeout"/> (10 minutes, unless the
/// process set another) is un-enlisted all the same, and what it writes after that stays. With <c>TransactionManager.MaximumTimeout =
/// TimeSpan.Zero;</c>, which is no limit, that cannot happen.
/// </para>
/// </remarks>
public static class DeadlineScope
{
    /// <summary>
    /// Runs a handler in a new transaction, and commits it when the handler returned in time.
    /// </summary>
    /// <param name="settings">The isolation level, and how long the handler may take.</param>
    /// <param name="handle">The handler. Its token is cancelled when the time is over.</param>
    /// <param name="cancellationToken">Cancels the handler's token, too.</param>
    /// <exception cref="TimeoutException">The handler returned or failed after its time; nothing of its work is committed.</exception>
    /// <exception cref="TransactionAbortedException">The transaction was rolled back: by a resource, or by the longest
    /// time-out.</exception>
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

        // The timer of the token can be a moment ahead.
        bool IsLate() => Stopwatch.GetElapsedTime(begun) >= timeout || (deadline.IsCancellationRequested && !cancellationToken.IsCancellationRequested);
    }
}
