using System.Diagnostics;
using Kit.Runner.Servers.Machine;

namespace Kit.Runner.Servers;

/// <summary>
/// Names a process for good: ids are used again, an id together with when it started is not. <see cref="Realm"/> says where the id counts;
/// processes of another machine or container cannot be seen from here.
/// </summary>
/// <param name="Started">When it started, exactly as the operating system tells it.</param>
public sealed record ProcessIdentity(int Id, string Started, string Realm)
{
    public static ProcessIdentity Current { get; } = Of(Environment.ProcessId)
        ?? throw new InvalidOperationException("The operating system does not tell when this process started.");

    private static string OwnRealm =>
        OperatingSystem.IsLinux() ? $"{Environment.MachineName} {new FileInfo("/proc/self/ns/pid").LinkTarget}" : Environment.MachineName;

    /// <summary>The identity of a running process, or <see langword="null"/> when there is none with that id.</summary>
    public static ProcessIdentity? Of(int id) => StartOf(id) is { } started ? new ProcessIdentity(id, started, OwnRealm) : null;

    /// <summary>Whether the process has ended; not said of one that cannot be seen from here.</summary>
    public bool HasEnded => string.Equals(Realm, OwnRealm, StringComparison.Ordinal) && !string.Equals(StartOf(Id), Started, StringComparison.Ordinal);

    private static string? StartOf(int id)
    {
        // Ticks after boot, and which boot: a wall clock that was set would move the start time that .NET computes.
        if (OperatingSystem.IsLinux())
            return ProcessStat.Read(id) is { IsZombie: false } process
                ? $"{File.ReadAllText("/proc/sys/kernel/random/boot_id").Trim()}/{process.Started}"
                : null;
        try
        {
            using var process = Process.GetProcessById(id);
            return process.HasExited ? null : process.StartTime.ToUniversalTime().ToString("O");
        }
        catch (Exception gone) when (gone is ArgumentException or InvalidOperationException)
        {
            return null;
        }
    }
}
