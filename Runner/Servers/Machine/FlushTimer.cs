using System.Diagnostics;
using System.Runtime.InteropServices;
using Kit.Runner.Results;
using Microsoft.Win32.SafeHandles;

namespace Kit.Runner.Servers.Machine;

/// <summary>
/// The time in which a disk makes a page of a log durable: 8 KiB over existing data, and <c>fdatasync</c>, as PostgreSQL writes its log on Linux
/// (<c>wal_sync_method</c>). Elsewhere the whole file is flushed.
/// </summary>
public static class FlushTimer
{
    /// <summary>Enough flushes for a reliable median.</summary>
    public const int Enough = 1_000;

    private const int Page = 8192;
    private const int Pages = 128;

    // A spinning disk takes about 10 ms for each.
    private static readonly TimeSpan Longest = TimeSpan.FromSeconds(1);

    /// <summary>Measures the flush time with a temporary file.</summary>
    /// <param name="most">The most flushes; fewer if they take longer than a second.</param>
    /// <exception cref="IOException">The folder cannot be written.</exception>
    /// <exception cref="UnauthorizedAccessException">The folder cannot be written.</exception>
    public static FlushTime Measure(string folder, int most)
    {
        using var file = File.OpenHandle(
            Path.Combine(folder, $"kit-flush-{Guid.NewGuid():N}"), FileMode.CreateNew, FileAccess.Write, FileShare.None, FileOptions.DeleteOnClose);
        var page = new byte[Page];
        for (var at = 0; at < Pages; at++)
            RandomAccess.Write(file, page, at * (long)Page);
        RandomAccess.FlushToDisk(file);

        var times = new List<double>();
        var watch = Stopwatch.StartNew();
        for (var flush = 0; flush < most && watch.Elapsed < Longest; flush++)
        {
            page[0]++;
            var began = Stopwatch.GetTimestamp();
            RandomAccess.Write(file, page, flush % Pages * (long)Page);
            Flush(file);
            times.Add(Stopwatch.GetElapsedTime(began).TotalMilliseconds);
        }

        return FlushTime.Of(times);
    }

    private static void Flush(SafeFileHandle file)
    {
        if (!OperatingSystem.IsLinux())
            RandomAccess.FlushToDisk(file);
        else if (FlushData(file) != 0)
            throw new IOException($"fdatasync failed with error {Marshal.GetLastPInvokeError()}.");
    }

    [DllImport("libc", EntryPoint = "fdatasync", SetLastError = true), DefaultDllImportSearchPaths(DllImportSearchPath.SafeDirectories)]
    private static extern int FlushData(SafeFileHandle file);
}
