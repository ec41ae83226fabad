using System.Diagnostics;

namespace Kit.Runner.Faults.Experiments;

/// <summary>Waits until nothing moves any more. It never waits for a count to become zero: what is stuck or in doubt never does.</summary>
internal static class Settling
{
    private static readonly TimeSpan Quiet = TimeSpan.FromSeconds(2);

    /// <summary>Where something is left: recovery looks for what is prepared every 5 seconds, and takes what is older than that; brokers count as slowly.</summary>
    private static readonly TimeSpan QuietWithWorkLeft = TimeSpan.FromSeconds(12);

    private static readonly TimeSpan Limit = TimeSpan.FromSeconds(30);
    private static readonly TimeSpan Pause = TimeSpan.FromMilliseconds(100);

    /// <returns>Whether it settled within 30 seconds without a movement for 2, or for 12 with something left.</returns>
    public static async Task<bool> WaitAsync(Func<CancellationToken, Task<Counters>> count, CancellationToken cancellationToken)
    {
        var last = await count(cancellationToken);
        var (whole, still) = (Stopwatch.StartNew(), Stopwatch.StartNew());
        while (still.Elapsed < (last.AreDone ? Quiet : QuietWithWorkLeft))
        {
            if (whole.Elapsed > Limit)
                return false;

            await Task.Delay(Pause, cancellationToken);
            var now = await count(cancellationToken);
            if (now != last)
                still.Restart();
            last = now;
        }

        return true;
    }
}
