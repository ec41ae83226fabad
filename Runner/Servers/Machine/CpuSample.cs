using System.Diagnostics;
using Kit.Modes;

namespace Kit.Runner.Servers.Machine;

/// <summary>The CPU time that each process and the machine had used at one moment (Linux, proc_stat(5)), in clock ticks.</summary>
/// <param name="At">On a monotonic clock.</param>
/// <param name="Busy">
/// User, nice, system and stolen time of all processors since boot, without idle, waiting and interrupts: most interrupts serve our own
/// loopback connections.
/// </param>
public sealed record CpuSample(TimeSpan At, int Cores, long Busy, IReadOnlyDictionary<int, ProcessStat> Processes)
{
    /// <summary>Clock ticks per second in <c>/proc</c>: USER_HZ, 100 on every processor that .NET runs on.</summary>
    public const int TicksPerSecond = 100;

    /// <summary>Support for samples on this machine, or the reason why there are none.</summary>
    public static Support Support { get; } = File.Exists("/proc/stat")
        ? Support.Yes
        : Support.No("the CPU use of other processes is read from /proc, which this operating system does not have");

    /// <summary>Support for the share of other processes in what this one may use, or the reason why it is not known.</summary>
    public static Support OfOthers { get; } = Take() is { } now ? OfOthersIn(now.Cores, Environment.ProcessorCount) : Support;

    /// <param name="all">The machine's processors.</param>
    /// <param name="ours">Those that this process may use: not all if it is pinned to some, or in a container with a limit.</param>
    internal static Support OfOthersIn(int all, int ours) => all == ours
        ? Support.Yes
        : Support.No($"this process may use {ours} of {all} processors, and the use by others is known of all of them together");

    /// <summary>A sample of now, or <see langword="null"/> without <see cref="Support"/>.</summary>
    public static CpuSample? Take() =>
        Support.IsSupported
            ? Parse(Stopwatch.GetElapsedTime(0), File.ReadAllText("/proc/stat"), ProcessIds().Select(ProcessStat.Read).OfType<ProcessStat>())
            : null;

    /// <param name="at">Time at which the texts were read.</param>
    /// <param name="stat">The text of <c>/proc/stat</c>.</param>
    /// <param name="processes">The processes, read right after it.</param>
    /// <exception cref="FormatException">The text is not from <c>/proc/stat</c>.</exception>
    public static CpuSample Parse(TimeSpan at, string stat, IEnumerable<ProcessStat> processes)
    {
        var cpuLines = stat.Split('\n').Where(line => line.StartsWith("cpu", StringComparison.Ordinal)).ToList();
        if (cpuLines.Count < 2 || cpuLines[0].Split(' ', StringSplitOptions.RemoveEmptyEntries) is not ["cpu", .. { Length: >= 8 } times])
            throw new FormatException("Expected a line 'cpu' with at least 8 times and one line for each processor in /proc/stat.");
        const int user = 0, nice = 1, system = 2, steal = 7;
        return new CpuSample(
            at,
            cpuLines.Count - 1,
            new[] { user, nice, system, steal }.Sum(field => long.Parse(times[field])),
            processes.ToDictionary(process => process.Id));
    }

    private static IEnumerable<int> ProcessIds()
    {
        foreach (var folder in Directory.EnumerateDirectories("/proc"))
        {
            if (int.TryParse(Path.GetFileName(folder), out var id))
                yield return id;
        }
    }
}
