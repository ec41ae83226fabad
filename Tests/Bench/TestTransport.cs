using Kit.Endpoints.Cells;
using Kit.Runner.Stage.Transports;
using Npgsql;

namespace Kit.Tests;

/// <summary>
/// Where the queues of one test are: its own database, on the server of the widgets or a second one, a virtual host of its own on the tests' broker, or else
/// where a run would have them.
/// </summary>
internal sealed class TestTransport : IAsyncDisposable
{
    /// <summary>The transports whose servers the tests share.</summary>
    private static readonly Dictionary<string, Place> Shared = new()
    {
        [TransportName.PostgreSql] = new(() => PostgreSqlServer.Missing, WithTheWidgetsAsync),
        [TransportName.PostgreSqlApart] = new(() => PostgreSqlServer.Missing, OnTheSecondServerAsync),
        [TransportName.RabbitMq] = new(() => PostgreSqlServer.Missing ?? RabbitMqServer.Missing, OnTheBrokerAsync),
        [TransportName.SqlServer] = new(() => SqlServerServer.Missing, WithTheWidgetsAsync),
    };

    private readonly Func<ValueTask> remove;

    private TestTransport(string address, Func<ValueTask> remove)
    {
        Address = address;
        this.remove = remove;
    }

    public string Address { get; }

    /// <exception cref="UnknownTransportException">Nobody has described its transport.</exception>
    public static Task<TestTransport> OpenAsync(Cell cell, ITestWidgets databases) =>
        Of(cell.Kind.Transport).OpenAsync(cell, databases);

    /// <summary>Why this machine has no server for a cell on <paramref name="transport"/>; <see langword="null"/> where it has.</summary>
    /// <inheritdoc cref="OpenAsync" path="/exception"/>
    public static string? MissingServer(string transport) => Of(transport).MissingServer();

    public ValueTask DisposeAsync() => remove();

    private static Place Of(string transport) => Shared.TryGetValue(transport, out var place) ? place : AsInARun(Transport.Named(transport));

    private static Place AsInARun(Transport transport) => new(
        () => transport.SupportHere(TransportArguments.None).Because ?? (transport.Widgets == transport ? null : MissingServer(transport.Widgets.Name)),
        async (cell, databases) =>
        {
            var place = await TransportServers.OpenAsync(cell, databases);
            return new TestTransport(place.ForEndpoint, place.DisposeAsync);
        });

    private static Task<TestTransport> WithTheWidgetsAsync(Cell cell, ITestWidgets databases) =>
        Task.FromResult(new TestTransport(databases.QueueOf(cell), () => ValueTask.CompletedTask));

    private static async Task<TestTransport> OnTheSecondServerAsync(Cell cell, ITestWidgets databases)
    {
        var (server, spares) = (await PostgreSqlServer.GetSecondAsync(), await PostgreSqlServer.GetSparesOfSecondAsync());
        var name = $"test_{Guid.NewGuid():N}";
        await spares.TakeAsync(name);
        return new TestTransport(
            new NpgsqlConnectionStringBuilder(server.ConnectionString) { Database = name }.ConnectionString,
            async () => await spares.GiveBackAsync(name));
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
