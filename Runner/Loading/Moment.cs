using System.Diagnostics;

namespace Kit.Runner.Loading;

/// <summary>A moment of a load, on the clock of its sender.</summary>
internal static class Moment
{
    /// <summary>The timer's unit. It can end one unit early, and what remains is less.</summary>
    private static readonly TimeSpan Shortest = TimeSpan.FromMilliseconds(1);

    /// <summary>Waits until then, and never shorter: a message that is sent early would seem faster than it is.</summary>
    /// <param name="due">The moment.</param>
    /// <param name="watch">The clock.</param>
    /// <param name="stop">Ends the wait.</param>
    public static async Task WaitForAsync(TimeSpan due, Stopwatch watch, CancellationToken stop)
    {
        while (due - watch.Elapsed is var wait && wait > TimeSpan.Zero)
            await Task.Delay(wait > Shortest ? wait : Shortest, stop);
    }
}
