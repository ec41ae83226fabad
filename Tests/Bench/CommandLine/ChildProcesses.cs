using System.Diagnostics;
using Kit.Runner.Servers;
using Kit.Runner.Servers.Machine;

namespace Kit.Tests.CommandLine;

/// <summary>Processes that another one has started. Linux alone.</summary>
internal static class ChildProcesses
{
    public static IEnumerable<int> Of(int parent) =>
        Process.GetProcesses().Select(other => other.Id).Where(id => ProcessStat.Read(id) is { } stat && stat.Parent == parent);

    /// <param name="signal">Its name, such as <c>STOP</c>.</param>
    /// <param name="target">A process's id, or a group's with a minus before it.</param>
    public static Task<ProgramResult> SignalAsync(string signal, string target) =>
        new ExternalProgram("kill").RunAsync(["-s", signal, "--", target], CancellationToken.None);

    /// <summary>The command line of a process, each argument with a zero behind it; empty if it has ended.</summary>
    public static string CommandLineOf(int id)
    {
        try
        {
            return File.ReadAllText($"/proc/{id}/cmdline");
        }
        catch (IOException)
        {
            return "";
        }
    }
}
