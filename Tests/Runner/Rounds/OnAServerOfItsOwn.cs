using Kit.Runner.Servers;

namespace Kit.Tests.Rounds;

/// <summary>Runs on a server that nobody else has: what is on it is counted. Other fixtures run meanwhile.</summary>
public abstract class OnAServerOfItsOwn : OnANamedServer
{
    private PrivatePostgreSql own = null!;

    [OneTimeSetUp]
    public async Task StartServer()
    {
        PostgreSqlServer.IgnoreWithoutPrograms();
        own = await PrivatePostgreSql.StartAsync(CancellationToken.None);
    }

    [OneTimeTearDown]
    public async Task StopServer()
    {
        if (own is not null)
            await own.DisposeAsync();
    }

    protected private override Task<NamedServer> GetServerAsync() => Task.FromResult(new NamedServer(own.ConnectionString));
}
