using Kit.Endpoints.Cells;

namespace Kit.Tests;

/// <summary>Where the queues of one test are: its own database, a folder, or a virtual host of its own on the tests' broker.</summary>
internal sealed class TestTransport : IAsyncDisposable
{
    private static readonly Dictionary<string, Place> Places = new()
    {
        [TransportName.PostgreSql] = new(() => PostgreSqlServer.Missing, WithTheWidgetsAsync),
        [TransportName.RabbitMq] = new(() => PostgreSqlServer.Missing ?? RabbitMqServer.Missing, OnTheBrokerAsync),
        [TransportName.SqlServer] = new(() => SqlServerServer.Missing, WithTheWidgetsAsync),
        [TransportName.Learning] = new(() => PostgreSqlServer.Missing, InAFolderAsync),
    };

    private readonly Func<ValueTask> remove;

    private TestTransport(string address, Func<ValueTask> remove)
    {
        Address = address;
        this.remove = remove;
    }

    public string Address { get; }

    /// <exception cref="ArgumentException">Nobody has said where the tests have the queues of its transport.</exception>
    public static Task<TestTransport> OpenAsync(Cell cell, ITestWidgets databases) =>
        Of(cell.Kind.Transport).OpenAsync(cell, databases);

    /// <summary>Why this machine has no server for a cell on <paramref name="transport"/>; <see langword="null"/> where it has.</summary>
    /// <inheritdoc cref="OpenAsync" path="/exception"/>
    public static string? MissingServer(string transport) => Of(transport).MissingServer();

    public ValueTask DisposeAsync() => remove();

    private static Place Of(string transport) => Places.TryGetValue(transport, out var place)
        ? place
        : throw new ArgumentException(
            $"Transport '{transport}': the tests do not know its servers and where its queues are. Enter it here.", nameof(transport));

    private static Task<TestTransport> WithTheWidgetsAsync(Cell cell, ITestWidgets databases) =>
        Task.FromResult(new TestTransport(databases.QueueOf(cell.Mode), () => ValueTask.CompletedTask));

    private static Task<TestTransport> InAFolderAsync(Cell cell, ITestWidgets databases)
    {
        var folder = new TemporaryFolder();
        return Task.FromResult(new TestTransport(folder.Path, () =>
        {
            folder.Dispose();
            return ValueTask.CompletedTask;
        }));
    }

    private static async Task<TestTransport> OnTheBrokerAsync(Cell cell, ITestWidgets databases)
    {
        var virtualHost = await TestVirtualHost.CreateAsync();
        return new TestTransport(virtualHost.Address, virtualHost.DisposeAsync);
    }

    /// <summary>Where the tests have the queues of a transport.</summary>
    /// <param name="MissingServer">Why this machine has no server for it.</param>
    /// <param name="OpenAsync">Makes a new place.</param>
    private sealed record Place(Func<string?> MissingServer, Func<Cell, ITestWidgets, Task<TestTransport>> OpenAsync);
}
