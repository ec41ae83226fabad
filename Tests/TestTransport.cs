using Kit.Endpoints.Cells;
using Kit.Modes;

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

    public static async Task<TestTransport> OpenAsync(Cell cell, ITestWidgets databases)
    {
        // One connection string, unless the transaction is to be promoted.
        if (cell.Kind.Transport == TransportName.SqlServer && cell.Mode != TransactionMode.FullDtcPromoted)
            return new TestTransport(databases.Widgets, virtualHost: null);
        if (cell.Kind.Transport != TransportName.RabbitMq)
            return new TestTransport(databases.Queue, virtualHost: null);

        var created = await TestVirtualHost.CreateAsync();
        return new TestTransport(created.Address, created);
    }

    public ValueTask DisposeAsync() => virtualHost?.DisposeAsync() ?? ValueTask.CompletedTask;
}
