using System.Diagnostics;
using Kit.Runner.Servers;

namespace Kit.Prove.Service;

/// <summary>
/// Kills the services of this process if it is killed itself. A shell reads their ids, and its input ends with this process. Where there is no
/// <c>setsid</c>, it does nothing.
/// </summary>
internal static class ServiceGuard
{
    private const string Script =
        """
        services=
        while read -r change id; do
          others=
          for one in $services; do [ "$one" = "$id" ] || others="$others $one"; done
          services=$others
          [ "$change" = end ] || services="$services $id"
        done
        for one in $services; do kill -s KILL -- "-$one"; done
        """;

    private static readonly Lock Telling = new();

    private static readonly Lazy<Process?> Shell = new(() => Setsid is null ? null : new ExternalProgram(Setsid).StartOnPipes(["/bin/sh", "-c", Script]));

    /// <summary>The program that gives a process a session of its own; <see langword="null"/>: the machine has none.</summary>
    public static string? Setsid { get; } = OperatingSystem.IsWindows() ? null : ExternalProgram.OnSearchPath("setsid");

    /// <summary>From now on its session ends with this process.</summary>
    public static void Begin(int id) => Tell("begin", id);

    /// <summary>It has ended.</summary>
    public static void End(int id) => Tell("end", id);

    private static void Tell(string change, int id)
    {
        try
        {
            lock (Telling)
            {
                Shell.Value?.StandardInput.Write(FormattableString.Invariant($"{change} {id}\n"));
                Shell.Value?.StandardInput.Flush();
            }
        }
        catch (IOException)
        {
            // Somebody has killed the guard. The services end with the proof all the same, unless that is killed, too.
        }
    }
}
