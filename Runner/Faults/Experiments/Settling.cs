using System.Diagnostics;

namespace Kit.Runner.Faults.Experiments;

/// <summary>Waits until nothing moves any more. It never waits for a count to become zero: what is stuck or in doubt never does.</summary>
internal static class Settling
{
    internal static readonly TimeSpan Quiet = TimeSpan.FromSeconds(2);

    /// <summary>
    /// Where something is left: recovery looks for what is prepared every 5 seconds, and takes what is older than that; the dispatcher of an
    /// outbox looks as often; brokers count as slowly.
    /// </summary>
    internal static readonly TimeSpan QuietWithWorkLeft = TimeSpan.FromSeconds(20);

    internal static readonly TimeSpan Limit = TimeSpan.FromMinutes(2);
    private static readonly TimeSpan Pause = TimeSpan.FromMilliseconds(100);

    /// <summary>Waits for 2 seconds without a movement, or 20 where something is left or may be.</summary>
    /// <param name="count">Counts what moves.</param>
    /// <param name="mayHideWork">
    /// Whether an endpoint may still have messages that no count sees: those that it has received and not yet handled, in a mode that receives
    /// before it handles. After a connection was lost it tries again only every few seconds.
    /// </param>
    /// <param name="cancellationToken">Cancels the wait.</param>
    /// <returns>That there was none within 2 minutes, in words; <see langword="null"/> when there was.</returns>
    public static async Task<string?> WaitAsync(
        Func<CancellationToken, Task<Counters>> count, bool mayHideWork, CancellationToken cancellationToken)
    {
        var last = await count(cancellationToken);
        var (whole, still) = (Stopwatch.StartNew(), Stopwatch.StartNew());
        while (still.Elapsed < (last.AreDone && !mayHideWork ? Quiet : QuietWithWorkLeft))
        {
            if (whole.Elapsed > Limit)
                return $"it did not settle within {Limit.TotalSeconds} s";

            await Task.Delay(Pause, cancellationToken);
            var now = await count(cancellationToken);
            if (now != last)
                still.Restart();
            last = now;
        }

        return null;
    }
}
