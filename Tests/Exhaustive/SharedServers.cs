using Kit.Tests.Packages;

namespace Kit.Tests.Exhaustive;

/// <summary>Stops the servers that the tests share: NUnit looks for such fixtures in this assembly alone.</summary>
[SetUpFixture]
public sealed class SharedServers
{
    [OneTimeTearDown]
    public async Task Stop()
    {
        PackedFolder.Remove();
        await new TransportServers().Stop();
        await new RabbitMqServer().Stop();
        await new PostgreSqlServer().Stop();
    }
}
