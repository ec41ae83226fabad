using System.Transactions;

namespace Kit.Modes;

/// <summary>
/// How long a <c>TransactionScope</c> around a handler may last. When it is over, System.Transactions rolls back while the handler may
/// still run, and Npgsql un-enlists the handler's connection: what the handler writes on it after that commits by itself.
/// </summary>
public static class TransactionTimeout
{
    /// <summary>
    /// What .NET gives a scope that asks for nothing: 1 minute, unless the process set another. Where it set none (zero), .NET gives the longest,
    /// and where it set none of that either, this is a day.
    /// </summary>
    public static TimeSpan Default => TransactionManager.DefaultTimeout is { Ticks: > 0 } set ? set : TimeSpan.FromDays(1);

    /// <summary>
    /// The longest time-out that this process allows: 10 minutes, unless it set another. Infinite where .NET's own limit is off (zero).
    /// </summary>
    public static TimeSpan Longest => TransactionManager.MaximumTimeout is { Ticks: > 0 } maximum ? maximum : Timeout.InfiniteTimeSpan;

    /// <summary>Whether .NET keeps this time-out as it is.</summary>
    /// <returns>The same time-out.</returns>
    /// <exception cref="ArgumentOutOfRangeException">
    /// It is zero or less, which .NET reads as the longest allowed, or longer than <see cref="TransactionManager.MaximumTimeout"/>, to
    /// which .NET would shorten it silently.
    /// </exception>
    public static TimeSpan Require(TimeSpan timeout)
    {
        if (timeout <= TimeSpan.Zero)
            throw new ArgumentOutOfRangeException(nameof(timeout), $"The transaction's time-out must be longer than zero; found {timeout}.");

        if (Longest != Timeout.InfiniteTimeSpan && timeout > Longest)
        {
            throw new ArgumentOutOfRangeException(
                nameof(timeout),
                $"The transaction's time-out is {timeout}, and this process allows {Longest} at most (TransactionManager.MaximumTimeout): .NET would shorten " +
                $"it silently. Ask for less, or raise the limit before the endpoint starts: TransactionManager.MaximumTimeout = {Code(timeout)};");
        }

        return timeout;
    }

    /// <summary>What fails a handler that was not finished in time.</summary>
    /// <param name="timeout">How long it might have taken.</param>
    /// <param name="taken">How long it took.</param>
    /// <param name="failure">How it ended; <see langword="null"/> where it returned.</param>
    public static TimeoutException Exceeded(TimeSpan timeout, TimeSpan taken, Exception? failure = null) => new(
        $"The handler was not finished within {timeout}, the time-out of its transaction, and its work was rolled back." +
        (Longest != Timeout.InfiniteTimeSpan && taken >= Longest
            ? $" What it wrote after {Longest} (TransactionManager.MaximumTimeout) is not in the transaction any more and can have stayed."
            : "") +
        (failure is null ? "" : $" It ended with: {failure.Message}"),
        failure);

    private static string Code(TimeSpan timeout) =>
        FormattableString.Invariant($"TimeSpan.FromMinutes({(long)Math.Ceiling(timeout.TotalMinutes)})");
}
