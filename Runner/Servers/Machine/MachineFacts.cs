using System.Globalization;
using System.Runtime;
using System.Runtime.InteropServices;

namespace Kit.Runner.Servers.Machine;

/// <summary>The machine that a number was measured on.</summary>
/// <param name="Cores">Processors that this process may use.</param>
/// <param name="CpuModel">As the operating system names it.</param>
/// <param name="TotalMemoryBytes">Of the machine, or of the container if it has a limit.</param>
/// <param name="AvailableMemoryBytes">Memory available without swapping, at the moment of reading; <see langword="null"/> if unknown.</param>
/// <param name="OperatingSystem">Name and version, and the kernel's.</param>
/// <param name="ServerGc">True if the server garbage collector is on.</param>
public sealed record MachineFacts(
    int Cores,
    string CpuModel,
    long TotalMemoryBytes,
    long? AvailableMemoryBytes,
    string OperatingSystem,
    string Runtime,
    bool ServerGc)
{
    private const string Unknown = "unknown";

    public static MachineFacts Read() => new(
        Environment.ProcessorCount,
        ReadCpuModel(),
        TotalMemoryIn(TextOf("/proc/meminfo"), ContainerLimit()) ?? GC.GetGCMemoryInfo().TotalAvailableMemoryBytes,
        AvailableMemoryIn(TextOf("/proc/meminfo"), ContainerLimit(), TextOf("/sys/fs/cgroup/memory.current", "/sys/fs/cgroup/memory/memory.usage_in_bytes")),
        $"{RuntimeInformation.OSDescription}, {Environment.OSVersion.VersionString}, {RuntimeInformation.OSArchitecture}",
        RuntimeInformation.FrameworkDescription,
        GCSettings.IsServerGC);

    /// <summary>Free bytes on the disk of a folder, which may not exist yet.</summary>
    /// <exception cref="IOException">The disk cannot be read.</exception>
    public static long FreeDiskBytes(string folder)
    {
        var existing = Path.GetFullPath(folder);
        while (!Directory.Exists(existing) && Path.GetDirectoryName(existing) is { } parent)
            existing = parent;
        return new DriveInfo(System.OperatingSystem.IsWindows() ? Path.GetPathRoot(existing)! : existing).AvailableFreeSpace;
    }

    /// <summary>The processor's name in the text of <c>/proc/cpuinfo</c>; ARM kernels give none.</summary>
    public static string CpuModelIn(string cpuinfo) => ValueIn(cpuinfo, "model name") ?? ValueIn(cpuinfo, "Model") ?? Unknown;

    /// <summary>Bytes of memory: the machine's, or the container's limit if that is less.</summary>
    /// <param name="meminfo">The text of <c>/proc/meminfo</c>, which counts in KiB.</param>
    /// <param name="limit">The text of the container's limit in bytes; <c>max</c> is none.</param>
    public static long? TotalMemoryIn(string meminfo, string limit) => Least(KibibytesIn(meminfo, "MemTotal"), BytesIn(limit));

    /// <summary>Bytes available without swapping: in the machine, or within the container's limit if that is less.</summary>
    /// <param name="used">The text of what the container uses, in bytes.</param>
    /// <inheritdoc cref="TotalMemoryIn" path="/param"/>
    public static long? AvailableMemoryIn(string meminfo, string limit, string used) =>
        Least(KibibytesIn(meminfo, "MemAvailable"), BytesIn(limit) - BytesIn(used));

    // The second is of control groups of version 1.
    private static string ContainerLimit() => TextOf("/sys/fs/cgroup/memory.max", "/sys/fs/cgroup/memory/memory.limit_in_bytes");

    private static string TextOf(params IEnumerable<string> paths) => paths.FirstOrDefault(File.Exists) is { } path ? File.ReadAllText(path) : "";

    private static long? BytesIn(string text) => long.TryParse(text.Trim(), CultureInfo.InvariantCulture, out var bytes) ? bytes : null;

    private static long? KibibytesIn(string meminfo, string key) =>
        ValueIn(meminfo, key)?.Split(' ') is [var kibibytes, "kB"] ? long.Parse(kibibytes, CultureInfo.InvariantCulture) * 1024 : null;

    private static long? Least(long? machine, long? container) => machine is { } all && container is { } part ? Math.Min(all, part) : machine;

    private static string ReadCpuModel() =>
        File.Exists("/proc/cpuinfo")
            ? CpuModelIn(File.ReadAllText("/proc/cpuinfo"))
            : Environment.GetEnvironmentVariable("PROCESSOR_IDENTIFIER") ?? RuntimeInformation.ProcessArchitecture.ToString();

    private static string? ValueIn(string text, string key) =>
        text.Split('\n')
            .Select(line => line.Split(':', 2, StringSplitOptions.TrimEntries))
            .FirstOrDefault(pair => pair.Length == 2 && string.Equals(pair[0], key, StringComparison.Ordinal))?[1];
}
