using Kit.Prove.Files;
using Kit.Prove.Service;
using Kit.Runner.Servers;

namespace Kit.Tests.Proofs;

/// <summary>
/// Servers for all tests of a fixture, one of each kind that their files need. The tests run one after another, and each application has databases and a
/// virtual host of its own. Fixtures share none: a server's log cannot be read while the application of another holds a transaction open.
/// </summary>
internal sealed class SharedProofServers : IAsyncDisposable
{
    private readonly Dictionary<(bool NeedsDatabases, bool ReadsCommits, bool NeedsBroker), ProofServers> started = [];

    /// <summary>Servers for services that are shell commands and call <c>psql</c>; ignores the test where a program is missing.</summary>
    public static SharedProofServers ForPsql()
    {
        PostgreSqlServer.IgnoreWithoutPrograms();
        if (ExternalProgram.OnSearchPath("psql") is null)
            Assert.Ignore("There is no psql on the search path.");
        return new SharedProofServers();
    }

    public async Task<ProofServers> GetAsync(ProofFile file)
    {
        var kind = (file.NeedsDatabases, file.ReadsCommits, file.NeedsBroker);
        if (!started.TryGetValue(kind, out var servers))
            started[kind] = servers = await ProofServers.StartAsync(file, CancellationToken.None);
        return servers;
    }

    public async ValueTask DisposeAsync()
    {
        foreach (var servers in started.Values)
            await servers.DisposeAsync();
    }
}
