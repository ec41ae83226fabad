namespace Kit.Tests.Proofs;

/// <summary>Tests of services that are shell commands and call <c>psql</c>, on servers for all of the fixture.</summary>
public abstract class WorkersOnPsql
{
    private SharedProofServers? shared;

    private protected SharedProofServers Shared => shared!;

    [OneTimeSetUp]
    public void SetUp() => shared = SharedProofServers.ForPsql();

    [OneTimeTearDown]
    public async Task TearDown()
    {
        if (shared is not null)
            await shared.DisposeAsync();
    }
}
