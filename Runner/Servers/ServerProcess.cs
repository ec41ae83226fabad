using System.Diagnostics;

namespace Kit.Runner.Servers;

/// <summary>A process that serves one folder, identified by the file with its id and by its command line (on systems with signals).</summary>
/// <param name="pidFile">See <see cref="ExternalProgram.StartServerAsync"/>.</param>
/// <param name="folder">Part of its command line, alone or as the beginning of a path.</param>
public sealed class ServerProcess(string pidFile, string folder)
{
    private const int CommandLineAttempts = 100;

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
