using Kit.Runner.Servers;

namespace Kit.Tests.CommandLine;

/// <summary>The servers that a runner makes for itself, in a folder of the test.</summary>
/// <param name="parent">The folder.</param>
internal sealed class ServersOfARunner(TemporaryFolder parent)
{
    /// <summary>With it a runner makes them there.</summary>
    public Dictionary<string, string> Environment { get; } = new Dictionary<string, string> { ["TMPDIR"] = parent.Path };

    /// <summary>The folder of each PostgreSQL server that is there.</summary>
    public string[] Folders => Directory.GetDirectories(parent.Path, "kit-postgresql-*");

    /// <summary>The process of the only PostgreSQL server, which runs.</summary>
    public ProcessIdentity Postmaster => ProcessIdentity.Of(Runner.Servers.Postmaster.RunningIn(Path.Combine(Folders.Single(), "server", "data"))!.Value)!;
}
