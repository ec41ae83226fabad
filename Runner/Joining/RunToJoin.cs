using Kit.Runner.Servers;
using Kit.Runner.Transports;

namespace Kit.Runner.Joining;

/// <summary>A run that workers can join.</summary>
/// <param name="Build">Its build.</param>
/// <param name="Command">Its command, secrets masked.</param>
/// <param name="Transports">The transports whose servers a worker must reach.</param>
/// <param name="Workers">How many it needs.</param>
/// <param name="Patience">How long it waits for them.</param>
internal sealed record RunToJoin(JoiningBuild Build, string Command, IReadOnlyList<string> Transports, int Workers, TimeSpan Patience)
{
    /// <summary>The end of a run that has measured all its rounds.</summary>
    public const string Completed = "completed";

    /// <summary>The command for a worker.</summary>
    /// <param name="server">Connection string of the server with the run's database.</param>
    public string HowToJoin(string server) => $"./run.sh worker --join \"{ConnectionStrings.Mask(server)}\"" + string.Concat(
        Transports.Select(Transport.Named).Where(transport => !transport.HoldsWidgets).Select(transport => $" {transport.Server!.Option} …"));
}
