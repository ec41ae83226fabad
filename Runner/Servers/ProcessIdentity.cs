using System.Diagnostics;
using Kit.Runner.Servers.Machine;

namespace Kit.Runner.Servers;

/// <summary>
/// Identifies a process. Ids are reused; an id and a start time together are not. <see cref="Realm"/> names the machine or container
/// of the id; processes of another one cannot be seen from here.
/// </summary>
/// <param name="Started">Start time, exactly as the operating system reports it.</param>
public sealed record ProcessIdentity(int Id, string Started, string Realm)
{
    public static ProcessIdentity Current { get; } = Of(Environment.ProcessId)
        ?? throw new InvalidOperationException("The operating system does not report when this process started.");

    private static string OwnRealm =>
        OperatingSystem.IsLinux() ? $"{Environment.MachineName} {new FileInfo("/proc/self/ns/pid").LinkTarget}" : Environment.MachineName;

    /// <summary>The identity of a running process, or <see langword="null"/> if none has that id.</summary>
    public static ProcessIdentity? Of(int id) => StartOf(id) is { } started ? new ProcessIdentity(id, started, OwnRealm) : null;

    /// <summary>True if the process is known to have ended; false for one that cannot be seen from here.</summary>
    public bool HasEnded => string.Equals(Realm, OwnRealm, StringComparison.Ordinal) && !string.Equals(StartOf(Id), Started, StringComparison.Ordinal);

    private static string? StartOf(int id)
    {
        // Ticks after boot, and which boot: .NET computes the start time from the wall clock, which can be changed.
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
