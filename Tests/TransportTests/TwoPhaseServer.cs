using System.Linq;
using System.Threading;
using System.Threading.Tasks;
using Kit.Runner.Servers;
using NUnit.Framework;

/// <summary>
/// The PostgreSQL server of all transport tests; with the parameter <c>servers=2</c> the handlers' data is on another. Without a namespace, because
/// NServiceBus's tests are in another one.
/// </summary>
[SetUpFixture]
public sealed class TwoPhaseServer
{
    private static PrivatePostgreSql server;
    private static PrivatePostgreSql other;

    internal static string ConnectionString => server.ConnectionString;

    internal static string Data => (other ?? server).ConnectionString;

    [OneTimeSetUp]
    public async Task Start()
    {
        if (!PostgreSqlBinaries.Folders().Any())
            Assert.Ignore($"This machine has no PostgreSQL server programs. {InstallableServer.PostgreSql.InstallHint()}");

        server = await PrivatePostgreSql.StartAsync(CancellationToken.None);
        if (TestContext.Parameters.Get("servers", 1) > 1)
            other = await PrivatePostgreSql.StartAsync(CancellationToken.None);
    }

    [OneTimeTearDown]
    public async Task Stop()
    {
        if (server is not null)
            await server.DisposeAsync();
        if (other is not null)
            await other.DisposeAsync();
    }
}
