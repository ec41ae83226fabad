using Kit.Endpoints.Cells;

namespace Kit.Tests;

/// <summary>Where the queues of one test are: its own database, or a virtual host of its own on the tests' broker.</summary>
internal sealed class TestTransport : IAsyncDisposable
{
    private readonly TestVirtualHost? virtualHost;

    private TestTransport(string address, TestVirtualHost? virtualHost)
    {
        Address = address;
        this.virtualHost = virtualHost;
    }

    public string Address { get; }

    public static async Task<TestTransport> OpenAsync(Cell cell, TestDatabases databases)
    {
        if (cell.Kind.Transport != TransportName.RabbitMq)
            return new TestTransport(databases.QueueOf(cell.Mode), virtualHost: null);

        var created = await TestVirtualHost.CreateAsync();
        return new TestTransport(created.Address, created);
    }

    public ValueTask DisposeAsync() => virtualHost?.DisposeAsync() ?? ValueTask.CompletedTask;
}
