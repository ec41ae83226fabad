namespace Kit.Tests;

/// <summary>Stops the servers that the tests share. NUnit looks for such fixtures in an assembly of tests alone, so each has one.</summary>
public abstract class StopsSharedServers
{
    [OneTimeTearDown]
    public async Task StopAsync()
    {
        await TransportServers.StopAsync();
        await RabbitMqServer.StopAsync();
        await PostgreSqlServer.StopAsync();
    }
}
