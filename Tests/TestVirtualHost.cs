using Kit.Endpoints.Bare.RabbitMq;

namespace Kit.Tests;

/// <summary>A virtual host, new for each test, on the tests' broker.</summary>
internal sealed class TestVirtualHost : IAsyncDisposable
{
    private readonly ManagementApi management;
    private readonly string name = $"test_{Guid.NewGuid():N}";

    private TestVirtualHost(RabbitMqAddress broker)
    {
        management = new ManagementApi(broker);
        Address = broker.In(name).Text;
    }

    /// <summary>With the management plugin's.</summary>
    public string Address { get; }

    public static async Task<TestVirtualHost> CreateAsync()
    {
        var host = new TestVirtualHost((await RabbitMqServer.GetAsync()).Address);
        await host.management.CreateVirtualHostAsync(host.name, "a test's", CancellationToken.None);
        return host;
    }

    public async ValueTask DisposeAsync()
    {
        await management.RemoveVirtualHostAsync(name, CancellationToken.None);
        management.Dispose();
    }
}
