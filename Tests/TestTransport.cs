using Kit.Endpoints.Cells;

namespace Kit.Tests;

/// <summary>Where the queues of one test are: its own database, a folder, or a virtual host of its own on the tests' broker.</summary>
internal sealed class TestTransport : IAsyncDisposable
{
    private readonly Func<ValueTask> remove;

    private TestTransport(string address, Func<ValueTask> remove)
    {
        Address = address;
        this.remove = remove;
    }

    public string Address { get; }

    public static async Task<TestTransport> OpenAsync(Cell cell, ITestWidgets databases)
    {
        switch (cell.Kind.Transport)
        {
            case TransportName.Learning:
                var folder = new TemporaryFolder();
                return new TestTransport(folder.Path, () =>
                {
                    folder.Dispose();
                    return ValueTask.CompletedTask;
                });
            case TransportName.RabbitMq:
                var virtualHost = await TestVirtualHost.CreateAsync();
                return new TestTransport(virtualHost.Address, virtualHost.DisposeAsync);
            default:
                return new TestTransport(databases.QueueOf(cell.Mode), () => ValueTask.CompletedTask);
        }
    }

    public ValueTask DisposeAsync() => remove();
}
