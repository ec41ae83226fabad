using System.Diagnostics;
using System.Reflection;
using Kit.Runner.Results;
using Kit.Runner.Servers;
using Kit.Runner.Servers.Machine;

namespace Kit.Runner.Terminal;

/// <summary>Checks of the machine on which something is to be measured. Each is small; a problem comes with its remedy.</summary>
internal static class MachineChecks
{
    private const double Gibibyte = 1L << 30;

    // A million rows twice (template and copy), and the private server's log up to max_wal_size.
    private const long EnoughDisk = 6L << 30;

    // shared_buffers, the handler process and the runner, with room for the file cache.
    private const long EnoughMemory = 1L << 30;

    private const int EnoughCores = 2;

    private const string Flush = "disk flush";

    private static readonly TimeSpan LoadWindow = TimeSpan.FromSeconds(1);

    /// <summary>Every check, in the order in which they are shown.</summary>
    /// <param name="results">The folder for results.</param>
    /// <param name="program">The program that measures.</param>
    /// <param name="startsServers">Whether nothing can start without a server of the kit's own.</param>
    public static async Task<IReadOnlyList<Finding>> ExamineAsync(
        string results, Assembly program, bool startsServers, CancellationToken cancellationToken) =>
    [
        .. OfMachine(MachineFacts.Read()),
        .. Disks(results, startsServers),
        await LoadFromOthersAsync(cancellationToken),
        Build(program),
    ];

    /// <summary>Cores and memory.</summary>
    public static IEnumerable<Finding> OfMachine(MachineFacts machine)
    {
        yield return machine.Cores >= EnoughCores
            ? new Finding("cores", $"{machine.Cores}, {machine.CpuModel}")
            : new Finding(
                "cores", $"{machine.Cores}, {machine.CpuModel}",
                "Handler and server share one core, which makes the modes differ less.", "Use a machine with at least 2 cores.");

        var memory = $"{machine.TotalMemoryBytes / Gibibyte:F1} GiB";
        if (machine.AvailableMemoryBytes is not { } available)
            yield return new Finding("memory", memory);
        else if (available >= EnoughMemory)
            yield return new Finding("memory", $"{memory}, {available / Gibibyte:F1} GiB available");
        else
            yield return new Finding(
                "memory", $"{memory}, {available / Gibibyte:F1} GiB available",
                $"Less than {EnoughMemory / Gibibyte:F0} GiB is available; the machine can start to swap.", "Close other programs.");
    }

    /// <summary>The CPU use of other programs.</summary>
    /// <param name="use">Between two samples of an idle kit.</param>
    public static Finding OfLoad(CpuUse use)
    {
        var found = $"{use.OthersShare:P1}" + (use.Busiest is { } busiest ? $", most of it {busiest.Name} ({busiest.Share:P1})" : "");
        return use.IsNoisy
            ? new Finding(
                "load from others", found,
                $"Other processes use more than {Noise.DefaultLimit:P0} of the CPU; rounds will be noisy.", "Stop or pause them.")
            : new Finding("load from others", found);
    }

    private static IReadOnlyList<Finding> Disks(string results, bool startsServers)
    {
        results = Path.TrimEndingDirectorySeparator(Path.GetFullPath(results));
        try
        {
            var place = ServerPlace.Choose(allowsMemory: false);
            return [.. new[] { results, place.Path }.Distinct(StringComparer.Ordinal).Select(Disk), FlushIn(place, startsServers)];
        }
        catch (KitException nowhere)
        {
            return [Disk(results), new Finding(Flush, "unknown", nowhere.Message, nowhere.Remedy, startsServers)];
        }
    }

    private static Finding FlushIn(ServerPlace place, bool startsServers)
    {
        try
        {
            return new Finding(Flush, $"{FlushTimer.Measure(place.Path, FlushTimer.Enough).Text}, 8 KiB in {place.Path} on {place.FileSystem}");
        }
        catch (Exception failure) when (failure is IOException or UnauthorizedAccessException)
        {
            return new Finding(Flush, "unknown", failure.Message, $"Set {ServerPlace.Variable} to a writable folder.", startsServers);
        }
    }

    private static Finding Disk(string folder)
    {
        try
        {
            var free = MachineFacts.FreeDiskBytes(folder);
            var found = $"{free / Gibibyte:F1} GiB free at {folder}";
            return free >= EnoughDisk
                ? new Finding("disk", found)
                : new Finding(
                    "disk", found, $"A run with the defaults can need {EnoughDisk / Gibibyte:F0} GiB.",
                    $"Free disk space, or use another folder: {ServerPlace.Variable} for the servers, --out for results.");
        }
        catch (Exception failure) when (failure is IOException or UnauthorizedAccessException or ArgumentException)
        {
            return new Finding("disk", $"unknown at {folder}", failure.Message, "Use another folder.");
        }
    }

    /// <summary>The CPU use of other programs in the next second.</summary>
    public static async Task<Finding> LoadFromOthersAsync(CancellationToken cancellationToken)
    {
        if (!CpuSample.OfOthers.IsSupported || CpuSample.Take() is not { } start)
            return new Finding("load from others", $"unknown: {CpuSample.OfOthers.Because}");
        await Task.Delay(LoadWindow, cancellationToken);
        return OfLoad(CpuUse.Between(start, CpuSample.Take()!, new HashSet<int> { Environment.ProcessId }));
    }

    private static Finding Build(Assembly program) =>
        program.GetCustomAttribute<DebuggableAttribute>() is { IsJITOptimizerDisabled: true }
            ? new Finding(
                "build", "Debug", "The program was built without optimization; its figures do not represent an application.",
                "Build with -c Release.")
            : new Finding("build", "Release");
}
