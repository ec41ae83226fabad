using System.Collections.Concurrent;
using Kit.Runner.Results;

namespace Kit.Runner.Stage;

/// <summary>Durations that workers record at the same time. The expected ones have room before the first, so that recording allocates nothing.</summary>
/// <param name="expected">Expected number; more are kept too.</param>
internal sealed class DurationLog(int expected)
{
    private readonly double[] values = new double[expected];
    private readonly ConcurrentQueue<double> more = new();
    private int count;

    public void Add(double milliseconds)
    {
        var index = Interlocked.Increment(ref count) - 1;
        if (index < values.Length)
            values[index] = milliseconds;
        else
            more.Enqueue(milliseconds);
    }

    /// <summary>A summary of the recorded durations; only after the last was added.</summary>
    /// <returns><see langword="null"/> if nothing was.</returns>
    public Durations? Summarize() => Durations.Of([.. values.AsSpan(0, Math.Min(count, values.Length)), .. more]);
}
