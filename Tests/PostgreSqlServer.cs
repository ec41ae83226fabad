using Kit.Runner.Servers;

namespace Kit.Tests;

/// <summary>One private server for all tests, started when the first of them asks for it.</summary>
[SetUpFixture]
public sealed class PostgreSqlServer
{
    private static readonly Lazy<Task<PrivatePostgreSql>> Server = new(() => PrivatePostgreSql.StartAsync(CancellationToken.None));

    /// <summary>The server; the test is ignored, with the reason, on a machine without PostgreSQL's programs.</summary>
    public static Task<PrivatePostgreSql> GetAsync()
    {
        IgnoreWithoutPrograms();
        return Server.Value;
    }

    public static void IgnoreWithoutPrograms()
    {
        if (!PostgreSqlBinaries.Folders().Any())
            Assert.Ignore($"This machine has no PostgreSQL server programs. {InstallableServer.PostgreSql.InstallHint()}");
    }

    [OneTimeTearDown]
    public async Task Stop()
    {
        if (Server.IsValueCreated)
            await (await Server.Value).DisposeAsync();
    }
}
