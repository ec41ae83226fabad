using System.Diagnostics;

namespace Kit.Tests;

/// <summary>Waits for what another process does.</summary>
internal static class Eventually
{
    /// <summary>For what no slow machine needs, and a hang does.</summary>
    public static readonly TimeSpan Limit = TimeSpan.FromMinutes(5);

    private static readonly TimeSpan ShortestPause = TimeSpan.FromMilliseconds(10);
    private static readonly TimeSpan LongestPause = TimeSpan.FromMilliseconds(50);

    public static Task HoldsAsync(Func<bool> condition, string what) => HoldsAsync(() => Task.FromResult(condition()), what);

    public static async Task HoldsAsync(Func<Task<bool>> condition, string what) =>
        Assert.That(await IsSoAsync(condition, Limit), Is.True, $"not within {Limit.TotalSeconds} s: {what}");

    /// <summary>Whether it comes to hold within a time.</summary>
    public static async Task<bool> IsSoAsync(Func<Task<bool>> condition, TimeSpan within)
    {
        // To look takes processor time from what is waited for: seldom, where it takes long.
        var pause = ShortestPause;
        for (var watch = Stopwatch.StartNew(); !await condition(); await Task.Delay(pause))
        {
            if (watch.Elapsed > within)
                return false;
            pause = pause < LongestPause ? pause + ShortestPause / 2 : LongestPause;
        }

        return true;
    }
}
