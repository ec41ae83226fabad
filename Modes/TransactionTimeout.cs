using System.Transactions;

namespace Kit.Modes;

/// <summary>
/// How long a <c>TransactionScope</c> around a handler may last. When the time is up, System.Transactions rolls back even if the handler
/// still runs. Npgsql then un-enlists the handler's connection, and later statements on it autocommit.
/// </summary>
public static class TransactionTimeout
{
    /// <summary>
    /// The time-out of a scope that sets none: 1 minute, unless the process changed it. If the process set it to zero (no limit), .NET uses the
    /// longest; if that is zero too, this is a day.
    /// </summary>
    public static TimeSpan Default => TransactionManager.DefaultTimeout is { Ticks: > 0 } set ? set : TimeSpan.FromDays(1);

    /// <summary>
    /// The longest time-out that this process allows: 10 minutes, unless it changed that. Infinite if .NET's limit is off (zero).
    /// </summary>
    public static TimeSpan Longest => TransactionManager.MaximumTimeout is { Ticks: > 0 } maximum ? maximum : Timeout.InfiniteTimeSpan;

    /// <summary>Refuses a time-out that .NET would change silently.</summary>
    /// <returns>The same time-out.</returns>
    /// <exception cref="ArgumentOutOfRangeException">
    /// It is zero or less, which .NET reads as the longest allowed, or longer than <see cref="TransactionManager.MaximumTimeout"/>.
    /// </exception>
    public static TimeSpan Require(TimeSpan timeout)
    {
        if (timeout <= TimeSpan.Zero)
            throw new ArgumentOutOfRangeException(nameof(timeout), $"The transaction's time-out must be longer than zero; found {timeout}.");

        if (Longest != Timeout.InfiniteTimeSpan && timeout > Longest)
        {
            throw new ArgumentOutOfRangeException(
                nameof(timeout),
                $"The transaction's time-out is {timeout}, and this process allows at most {Longest} (TransactionManager.MaximumTimeout): .NET would shorten " +
                $"it silently. Set a shorter one, or raise the limit before the endpoint starts: TransactionManager.MaximumTimeout = {Code(timeout)};");
        }

        return timeout;
    }

    /// <summary>The failure of a handler that did not finish in time.</summary>
    /// <param name="timeout">How long it was allowed to take.</param>
    /// <param name="taken">How long it took.</param>
    /// <param name="failure">The exception that it ended with; <see langword="null"/> if it returned.</param>
    public static TimeoutException Exceeded(TimeSpan timeout, TimeSpan taken, Exception? failure = null) => new(
        $"The handler did not finish within {timeout}, the time-out of its transaction, and its work was rolled back." +
        (Longest != Timeout.InfiniteTimeSpan && taken >= Longest
            ? $" Anything it wrote after {Longest} (TransactionManager.MaximumTimeout) was outside the transaction and may have stayed."
            : "") +
        (failure is null ? "" : $" It ended with: {failure.Message}"),
        failure);

    private static string Code(TimeSpan timeout) =>
        FormattableString.Invariant($"TimeSpan.FromMinutes({(long)Math.Ceiling(timeout.TotalMinutes)})");
}
