using System.Data;
using System.Reflection;
using System.Text.Json;
using Kit.Endpoints.Bare;
using Kit.Endpoints.Bare.SqlServer;
using Kit.Endpoints.NServiceBus;
using Kit.Handlers;
using Kit.Modes;
using Microsoft.Data.SqlClient;
using Microsoft.Extensions.DependencyInjection;
using Microsoft.Extensions.Hosting;
using NServiceBus;

namespace Kit.Endpoints.Cells;

/// <summary>NServiceBus on queues in SQL Server; the widgets are there too. Compiled only if the package feed has it and the driver.</summary>
public sealed class NServiceBusOnSqlServer : IEndpointKind
{
    private static readonly SqlServerTransport Any = new("Server=localhost");

    public FrameworkFacts Facts => FactsOfNServiceBus.Facts;

    public string Transport => TransportName.SqlServer;

    public WidgetServer WidgetServer => WidgetServer.SqlServer;

    public IReadOnlyList<Assembly> Packages { get; } =
        [typeof(EndpointConfiguration).Assembly, typeof(SqlServerTransport).Assembly, typeof(SqlConnection).Assembly];

    public IReadOnlyList<PhaseInstrument> Instruments => NServiceBusEndpoint.Instruments;

    public Support Supports(TransactionMode mode) =>
        NServiceBusSupport.Of(mode, Any) is { IsSupported: false } refused ? refused : SqlServerSupport.Of(mode);

    public IReadOnlyList<string> CodeOf(TransactionMode mode) =>
        NServiceBusEndpoint.CodeOf(mode == TransactionMode.FullDtc ? "new SqlServerTransport(data)" : "new SqlServerTransport(queues)", mode);

    public void AddEndpoint(IServiceCollection services, EndpointSettings settings, HandleMessage handle)
    {
        var connections = new SqlServerConnections(settings.Transport, settings.Widgets);
        services.AddSingleton<IHostedService>(new ModeCheck(connections, settings));
        NServiceBusEndpoint.Add(
            services, settings, handle,
            _ => SqlClientFactory.Instance.CreateDataSource(connections.ForData(settings.Mode)),
            new SqlServerTransport(connections.ForQueue(settings.Mode)),
            NServiceBusEndpoint.ErrorQueueOf(settings.Queue));
    }

    public IMessageQueue OpenQueue(string name, string transport) => new Queue(transport, name);

    /// <summary>Checks that the mode can run over the connections. The transport itself would only warn, and then fail every message.</summary>
    private sealed class ModeCheck(SqlServerConnections connections, EndpointSettings settings) : StartCheck
    {
        public override Task StartingAsync(CancellationToken cancellationToken)
        {
            connections.Require(settings.Queue, settings.Mode);
            return Task.CompletedTask;
        }
    }

    private sealed class Queue(string transport, string name) : IMessageQueue
    {
        private readonly SqlServerTables tables = new(transport);
        private readonly string table = TableOf(name);
        private readonly string errors = TableOf(NServiceBusEndpoint.ErrorQueueOf(name));

        public string Name => name;

        public Task CreateAsync(CancellationToken cancellationToken) => NServiceBusEndpoint.InstallAsync(
            name, new SqlServerTransport(tables.ConnectionString), NServiceBusEndpoint.ErrorQueueOf(name), cancellationToken);

        public Task SubscribeAsync(Type eventType, CancellationToken cancellationToken) => NServiceBusEndpoint.SubscribeAsync(
            name, new SqlServerTransport(tables.ConnectionString), NServiceBusEndpoint.ErrorQueueOf(name), eventType, cancellationToken);

        public async Task EnqueueAsync(IEnumerable<OutgoingMessage> messages, CancellationToken cancellationToken)
        {
            using var rows = new DataTable();
            rows.Columns.Add("Id", typeof(Guid));
            rows.Columns.Add("Recoverable", typeof(bool));
            rows.Columns.Add("Headers", typeof(string));
            rows.Columns.Add("Body", typeof(byte[]));
            foreach (var message in messages)
                rows.Rows.Add(Guid.CreateVersion7(), true, JsonSerializer.Serialize(NServiceBusEndpoint.HeadersOf(message, queue => queue)), message.Body);

            await tables.InsertAsync(table, rows, cancellationToken);
        }

        public async Task<long> CountAsync(CancellationToken cancellationToken) =>
            (await ReadAsync($"count_big(*) FROM {table}", row => row.GetInt64(0), cancellationToken))[0];

        public async Task<IReadOnlyList<Guid>> ReadMessagesAsync(CancellationToken cancellationToken) =>
            [.. (await ReadHeadersAsync(table, cancellationToken)).Select(headers => Guid.Parse(headers[Headers.MessageId]))];

        public Task<IReadOnlyList<T>> ReadBodiesAsync<T>(Func<Guid, ReadOnlyMemory<byte>, T> read, CancellationToken cancellationToken) => ReadAsync(
            $"Headers, Body FROM {table} ORDER BY RowVersion",
            row => read(Guid.Parse(HeadersIn(row)[Headers.MessageId]), row.GetFieldValue<byte[]>(1)),
            cancellationToken);

        public async Task<int?> ReadBodySizeAsync(CancellationToken cancellationToken) =>
            await ReadAsync($"TOP (1) CAST(datalength(Body) AS int) FROM {table} ORDER BY RowVersion", row => row.GetInt32(0), cancellationToken)
                is [var size] ? size : null;

        public async Task<IReadOnlyList<DeadLetter>> ReadErrorsAsync(CancellationToken cancellationToken) =>
            [.. (await ReadHeadersAsync(errors, cancellationToken)).Select(NServiceBusEndpoint.DeadLetterOf)];

        public ValueTask DisposeAsync() => ValueTask.CompletedTask;

        private static string TableOf(string queue) => $"dbo.[{queue}]";

        private Task<IReadOnlyList<Dictionary<string, string>>> ReadHeadersAsync(string from, CancellationToken cancellationToken) =>
            ReadAsync($"Headers FROM {from} ORDER BY RowVersion", HeadersIn, cancellationToken);

        private static Dictionary<string, string> HeadersIn(SqlDataReader row) =>
            JsonSerializer.Deserialize<Dictionary<string, string>>(row.GetString(0))!;

        private Task<IReadOnlyList<T>> ReadAsync<T>(string query, Func<SqlDataReader, T> read, CancellationToken cancellationToken) =>
            tables.ReadAsync($"{QueueStatements.AsCommitted}SELECT {query}", read, cancellationToken);
    }
}
