using System.Diagnostics;
using Kit.Runner.Faults.Points;
using Kit.Runner.Faults.Testbeds;
using Kit.Runner.Measuring;
using Kit.Runner.Results.Accounts;

namespace Kit.Runner.Faults.Experiments;

/// <summary>
/// Waits until given messages have been handled. It is faster than <see cref="Settling"/>, because an ordinary message follows the one that matters: when
/// the only worker has returned from that, it holds no other.
/// </summary>
internal static class PointSettling
{
    /// <summary>Time without a change of any count, if nothing is left to do.</summary>
    public static readonly TimeSpan Quiet = TimeSpan.FromMilliseconds(700);
    private static readonly TimeSpan Pause = TimeSpan.FromMilliseconds(50);

    /// <summary>True if the messages' handlers have returned, and nothing is left to do.</summary>
    public static bool AreDone(Testbed testbed, Counters counted, IReadOnlyList<Guid> messages) =>
        counted.AreDone && messages.All(message => testbed.Journal.LinesOf(message).Any(line => line.Point is AttemptPoint.Returned));

    /// <summary>Waits until the messages' handlers have returned, nothing is left to do, and no count has changed for a while.</summary>
    /// <param name="limit">The longest wait. Less than <paramref name="quiet"/> does not accept work that is left.</param>
    /// <param name="quiet">Time without a change of any count, if work is left, after which the work counts as stuck.</param>
    public static async Task<Settlement> WaitAsync(
        Testbed testbed, IReadOnlyList<Guid> messages, TimeSpan limit, TimeSpan quiet, CancellationToken cancellationToken)
    {
        var counted = await testbed.CountAsync(cancellationToken);
        var (whole, still) = (Stopwatch.StartNew(), Stopwatch.StartNew());
        while (true)
        {
            var areDone = AreDone(testbed, counted, messages);
            if (still.Elapsed > (areDone ? Quiet : quiet))
                return new Settlement(areDone, Because: null);
            if (whole.Elapsed > limit)
                return Settlement.TooLate(limit);

            testbed.ThrowIfBroken();
            await Task.Delay(Pause, cancellationToken);
            var now = await testbed.CountAsync(cancellationToken);
            if (now != counted)
                still.Restart();
            counted = now;
        }
    }
}
