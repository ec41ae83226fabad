using System.Diagnostics;

namespace Kit.Tests;

/// <summary>Waits for what another process does.</summary>
internal static class Eventually
{
    private static readonly TimeSpan Limit = TimeSpan.FromSeconds(30);

    public static Task HoldsAsync(Func<bool> condition, string what) => HoldsAsync(() => Task.FromResult(condition()), what);

    public static async Task HoldsAsync(Func<Task<bool>> condition, string what)
    {
        for (var watch = Stopwatch.StartNew(); !await condition(); await Task.Delay(5))
        {
            if (watch.Elapsed > Limit)
                Assert.Fail($"Not within {Limit.TotalSeconds} s: {what}.");
        }
    }
}
