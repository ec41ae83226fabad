using System.Diagnostics;
using Kit.Runner.Results.Accounts;

namespace Kit.Runner.Faults.Experiments;

/// <summary>
/// Waits until one message at a time has been handled. It is faster than <see cref="Settling"/>, because an ordinary message follows the one that matters: when
/// the only worker has returned from that, it holds no other.
/// </summary>
internal static class PointSettling
{
    public static readonly TimeSpan Limit = TimeSpan.FromSeconds(60);

    private static readonly TimeSpan Quiet = TimeSpan.FromMilliseconds(700);
    private static readonly TimeSpan Pause = TimeSpan.FromMilliseconds(50);

    /// <summary>Whether the message's handler has returned, and nothing is left to do.</summary>
    public static bool IsDone(Testbed testbed, Counters counted, Guid last) =>
        counted.AreDone && testbed.Journal.LinesOf(last).Any(line => line.Point is AttemptPoint.Returned);

    /// <summary>Waits until the message's handler has returned, nothing is left to do, and no count has changed for a while.</summary>
    /// <param name="testbed">Counts.</param>
    /// <param name="last">The message that was sent last.</param>
    /// <param name="limit">How long at most. Less than <paramref name="quiet"/> does not accept work that is left.</param>
    /// <param name="quiet">How long no count may change, if work is left, before it is taken to stay.</param>
    /// <param name="cancellationToken">Cancels the wait.</param>
    /// <returns>That it took too long, as a text; <see langword="null"/> if it did not.</returns>
    public static async Task<string?> WaitAsync(Testbed testbed, Guid last, TimeSpan limit, TimeSpan quiet, CancellationToken cancellationToken)
    {
        var counted = await testbed.CountAsync(cancellationToken);
        var (whole, still) = (Stopwatch.StartNew(), Stopwatch.StartNew());
        while (true)
        {
            if (still.Elapsed > (IsDone(testbed, counted, last) ? Quiet : quiet))
                return null;
            if (whole.Elapsed > limit)
                return $"it did not settle within {limit.TotalSeconds:F0} s";

            testbed.ThrowIfBroken();
            await Task.Delay(Pause, cancellationToken);
            var now = await testbed.CountAsync(cancellationToken);
            if (now != counted)
                still.Restart();
            counted = now;
        }
    }
}
