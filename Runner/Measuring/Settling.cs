using System.Diagnostics;

namespace Kit.Runner.Measuring;

/// <summary>Waits until no count changes any more. It does not wait for zero: stuck and in-doubt work never gets there.</summary>
internal static class Settling
{
    internal static readonly TimeSpan Quiet = TimeSpan.FromSeconds(2);

    /// <summary>Time for a process to start and handle a message, before one of its starts was measured.</summary>
    internal static readonly TimeSpan ToStart = TimeSpan.FromSeconds(60);

    internal static readonly TimeSpan Limit = TimeSpan.FromMinutes(2);

    /// <summary>A count costs five queries. Experiments side by side share the servers, so a shorter pause would slow the others down.</summary>
    private static readonly TimeSpan Pause = TimeSpan.FromMilliseconds(250);

    /// <summary>Waits for 2 seconds without a change, or for twice the longest pause if work is left or may be.</summary>
    /// <param name="longestPause">The longest time for which an endpoint leaves work alone that it is going to do.</param>
    /// <param name="mayHideWork">
    /// True if an endpoint may still have messages that no count includes: received but not yet handled, in a mode that receives before it handles. After
    /// a lost connection it tries again only every few seconds.
    /// </param>
    /// <returns>A text that says that it did not settle within 2 minutes; <see langword="null"/> if it did.</returns>
    public static async Task<string?> WaitAsync(
        Func<CancellationToken, Task<Counters>> count, TimeSpan longestPause, bool mayHideWork, CancellationToken cancellationToken)
    {
        var last = await count(cancellationToken);
        var (whole, still) = (Stopwatch.StartNew(), Stopwatch.StartNew());
        while (still.Elapsed < (last.AreDone && !mayHideWork ? Quiet : 2 * longestPause))
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
