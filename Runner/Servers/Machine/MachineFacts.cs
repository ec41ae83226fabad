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
        GC.GetGCMemoryInfo().TotalAvailableMemoryBytes,
        File.Exists("/proc/meminfo") ? AvailableMemoryIn(File.ReadAllText("/proc/meminfo")) : null,
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

    /// <summary>Bytes available in the text of <c>/proc/meminfo</c>, which counts in KiB.</summary>
    public static long? AvailableMemoryIn(string meminfo) =>
        ValueIn(meminfo, "MemAvailable")?.Split(' ') is [var kibibytes, "kB"] ? long.Parse(kibibytes, CultureInfo.InvariantCulture) * 1024 : null;

    private static string ReadCpuModel() =>
        File.Exists("/proc/cpuinfo")
            ? CpuModelIn(File.ReadAllText("/proc/cpuinfo"))
            : Environment.GetEnvironmentVariable("PROCESSOR_IDENTIFIER") ?? RuntimeInformation.ProcessArchitecture.ToString();

    private static string? ValueIn(string text, string key) =>
        text.Split('\n')
            .Select(line => line.Split(':', 2, StringSplitOptions.TrimEntries))
            .FirstOrDefault(pair => pair.Length == 2 && string.Equals(pair[0], key, StringComparison.Ordinal))?[1];
}
