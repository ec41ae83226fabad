namespace Kit.Tests.Rounds;

/// <summary>Runs on the tests' server, each with a new folder for what it writes.</summary>
public abstract class OnANamedServer
{
    protected private NamedServer Server { get; private set; } = null!;

    protected private TemporaryFolder Parent { get; private set; } = null!;

    [SetUp]
    public async Task Prepare()
    {
        Server = await GetServerAsync();
        Parent = new TemporaryFolder();
    }

    [TearDown]
    public void RemoveFolder() => Parent?.Dispose();

    protected private virtual Task<NamedServer> GetServerAsync() => NamedServer.GetAsync();
}
