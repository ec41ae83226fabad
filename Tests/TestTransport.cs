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

    /// <summary>Why this machine has no server for a cell on <paramref name="transport"/>; <see langword="null"/> where it has.</summary>
    public static string? MissingServer(string transport) => transport switch
    {
        TransportName.PostgreSql or TransportName.Learning => PostgreSqlServer.Missing,
        TransportName.RabbitMq => PostgreSqlServer.Missing ?? RabbitMqServer.Missing,
        TransportName.SqlServer => SqlServerServer.Missing,
        _ => throw new ArgumentException(
            $"Transport '{transport}': the tests do not know which servers it needs. Name them here.", nameof(transport)),
    };

    public ValueTask DisposeAsync() => remove();
}
