using System.Diagnostics;

namespace Kit.Runner.Servers;

/// <summary>The server process of a data folder, as its <c>postmaster.pid</c> names it.</summary>
public static class Postmaster
{
    // postmaster.pid has the start in whole seconds, slightly after the process started.
    private static readonly TimeSpan StartTolerance = TimeSpan.FromSeconds(5);

    /// <summary>
    /// The id of the postmaster that runs in a data folder, or <see langword="null"/>. After a crash the id in the file
    /// can belong to any process, so the process must also be a postgres of this folder.
    /// </summary>
    public static int? RunningIn(string dataFolder)
    {
        var file = Path.Combine(dataFolder, "postmaster.pid");
        // Lines: process id, data folder, start in seconds of the Unix epoch, port, and others.
        if (LinesOf(file) is not [var idLine, _, var startLine, ..] || !int.TryParse(idLine, out var id))
            return null;
        var isIt = OperatingSystem.IsLinux() ? IsServerOf(id, dataFolder) : IsServerStartedAt(id, startLine);
        return isIt ? id : null;
    }

    /// <summary>A server that ends removes its file, also between two looks of ours.</summary>
    private static string[] LinesOf(string file)
    {
        try
        {
            return File.Exists(file) ? File.ReadAllLines(file) : [];
        }
        catch (IOException)
        {
            return [];
        }
    }

    private static bool IsServerOf(int id, string dataFolder)
    {
        try
        {
            var command = File.ReadAllText($"/proc/{id}/cmdline").Split('\0');
            return Path.GetFileName(command[0]) is "postgres" && command.Contains(dataFolder, StringComparer.Ordinal);
        }
        catch (IOException)
        {
            return false;
        }
    }

    private static bool IsServerStartedAt(int id, string startLine)
    {
        try
        {
            using var process = Process.GetProcessById(id);
            var told = DateTimeOffset.FromUnixTimeSeconds(long.Parse(startLine));
            return process.ProcessName is "postgres" && (process.StartTime.ToUniversalTime() - told.UtcDateTime).Duration() < StartTolerance;
        }
        catch (Exception gone) when (gone is ArgumentException or InvalidOperationException)
        {
            return false;
        }
    }
}
