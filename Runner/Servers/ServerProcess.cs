using System.Diagnostics;
using System.Security.Cryptography;
using System.Text;
using Kit.Runner.Servers.Machine;

namespace Kit.Runner.Servers;

/// <summary>A process that serves one folder, identified by the file with its id and by its command line (on systems with signals).</summary>
/// <param name="pidFile">See <see cref="ExternalProgram.StartServerAsync"/>.</param>
/// <param name="folder">Part of its command line, alone or as the beginning of a path.</param>
public sealed class ServerProcess(string pidFile, string folder)
{
    private const int CommandLineAttempts = 1_500;

    private static readonly TimeSpan ForAKilledOne = TimeSpan.FromSeconds(30);
    private static readonly TimeSpan Pause = TimeSpan.FromMilliseconds(20);

    /// <summary>
    /// The process, or <see langword="null"/> if it does not run. After a crash the id in the file can belong to any process, so the
    /// command line is checked too.
    /// </summary>
    public async Task<ProcessIdentity?> FindAsync()
    {
        if (!File.Exists(pidFile) || !int.TryParse(await File.ReadAllTextAsync(pidFile), out var id))
            return null;
        var identity = ProcessIdentity.Of(id);
        return identity is not null && await IsOursAsync(identity) ? identity : null;
    }

    /// <summary>Asks the process to end, and kills it if it does not end in time.</summary>
    /// <param name="patience">Zero: it is killed at once.</param>
    /// <returns>True if it has ended.</returns>
    public async Task<bool> EndAsync(TimeSpan patience)
    {
        if (await FindAsync() is not { } process)
            return true;
        if (patience > TimeSpan.Zero)
        {
            await SignalAsync("TERM", process);
            if (await HasEndedAsync(process, patience))
                return true;
        }

        await SignalAsync("KILL", process);
        return await HasEndedAsync(process, ForAKilledOne);
    }

    private async Task<bool> IsOursAsync(ProcessIdentity process)
    {
        try
        {
            return OperatingSystem.IsLinux()
                ? (await ReadCommandLineAsync(process)).Split('\0').Any(IsInFolder)
                : (await new ExternalProgram("ps").RunAsync(["-ww", "-o", "command=", "-p", $"{process.Id}"], CancellationToken.None))
                    .Output.Contains(folder, StringComparison.Ordinal);
        }
        catch (Exception gone) when (gone is IOException or UnauthorizedAccessException)
        {
            return false;
        }
    }

    // While a process becomes another program, as a starting server does several times, it has no command line for a moment.
    private static async Task<string> ReadCommandLineAsync(ProcessIdentity process)
    {
        for (var attempt = 1; ; attempt++)
        {
            var text = await File.ReadAllTextAsync($"/proc/{process.Id}/cmdline");
            if (text.Length > 0 || attempt == CommandLineAttempts || process.HasEnded)
                return text;
            await Task.Delay(Pause);
        }
    }

    private bool IsInFolder(string argument) =>
        argument.StartsWith(folder, StringComparison.Ordinal) && (argument.Length == folder.Length || argument[folder.Length] == Path.DirectorySeparatorChar);

    // The runtime can only kill. The shell's built-in command can send both signals, and exists even without a program of that name.
    private static Task<ProgramResult> SignalAsync(string signal, ProcessIdentity process) =>
        new ExternalProgram("/bin/sh").RunAsync(["-c", $"kill -s {signal} {process.Id}"], CancellationToken.None);

    private static async Task<bool> HasEndedAsync(ProcessIdentity process, TimeSpan patience)
    {
        for (var watch = Stopwatch.StartNew(); !process.HasEnded; await Task.Delay(Pause))
        {
            if (watch.Elapsed > patience)
                return false;
        }

        return true;
    }
}

/// <summary>The way in which a server is stopped.</summary>
public enum StopMode
{
    /// <summary>Ends its connections and saves its data first: PostgreSQL writes a checkpoint.</summary>
    Fast,

    /// <summary>Like a crash: unwritten data is lost, and the logs are replayed at the next start.</summary>
    Immediate,
}

/// <summary>
/// Identifies a process. Ids are reused; an id and a start time together are not. <see cref="Realm"/> names the machine or container
/// of the id; processes of another one cannot be seen from here.
/// </summary>
/// <param name="Started">Start time, exactly as the operating system reports it.</param>
public sealed record ProcessIdentity(int Id, string Started, string Realm)
{
    private const string MachineId = "/etc/machine-id";
    private const int MachineIdLength = 32;

    public static ProcessIdentity Current { get; } = Of(Environment.ProcessId)
        ?? throw new InvalidOperationException("The operating system does not report when this process started.");

    private static string OwnRealm =>
        OperatingSystem.IsLinux() ? $"{Environment.MachineName} {Kernel} {new FileInfo("/proc/self/ns/pid").LinkTarget}" : Environment.MachineName;

    private static string Boot => File.ReadAllText("/proc/sys/kernel/random/boot_id").Trim();

    /// <summary>
    /// The machine, also after it was started again; where it has no id, as in many containers, this start of it. Host names are not unique, and every
    /// kernel gives its first namespace the same number. The id itself is not for others' eyes: machine-id(5).
    /// </summary>
    private static string Kernel => File.Exists(MachineId) && File.ReadAllText(MachineId).Trim() is { Length: MachineIdLength } id
        ? Convert.ToHexStringLower(HMACSHA256.HashData(Encoding.UTF8.GetBytes(id), "comparison kit"u8))[..MachineIdLength]
        : Boot;

    /// <summary>The identity of a running process, or <see langword="null"/> if none has that id.</summary>
    public static ProcessIdentity? Of(int id) => StartOf(id) is { } started ? new ProcessIdentity(id, started, OwnRealm) : null;

    /// <summary>True if the process is known to have ended; false for one that cannot be seen from here.</summary>
    public bool HasEnded => string.Equals(Realm, OwnRealm, StringComparison.Ordinal) && !string.Equals(StartOf(Id), Started, StringComparison.Ordinal);

    private static string? StartOf(int id)
    {
        // Ticks after boot, and which boot: .NET computes the start time from the wall clock, which can be changed.
        if (OperatingSystem.IsLinux())
            return ProcessStat.Read(id) is { IsZombie: false } process
                ? $"{Boot}/{process.Started}"
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
