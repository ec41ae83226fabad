using System.Reflection;
using System.Text.Json;
using Kit.Endpoints.Bare;
using Kit.Handlers;
using Kit.Modes;
using Microsoft.Extensions.DependencyInjection;
using Microsoft.Extensions.Hosting;
using Npgsql;
using NpgsqlTypes;
using NServiceBus;
using TransportDefinition = NServiceBus.Transport.TransportDefinition;

namespace Kit.Endpoints.Cells;

/// <summary>NServiceBus on queues in PostgreSQL. Compiled only if the package feed has it.</summary>
public class NServiceBusOnPostgreSql : IEndpointKind
{
    private static readonly PostgreSqlTransport Any = new("Host=localhost");
    private static readonly TwoPhasePostgreSqlTransport AnyTwoPhase = new("Host=localhost");

    public FrameworkFacts Facts => FactsOfNServiceBus.Facts;

    public virtual string Transport => TransportName.PostgreSql;

    public WidgetServer WidgetServer => WidgetServer.PostgreSql;

    public IReadOnlyList<Assembly> Packages { get; } =
    [
        typeof(EndpointConfiguration).Assembly, typeof(PostgreSqlTransport).Assembly, .. NServiceBusEndpoint.OutboxPackages,
        typeof(NpgsqlConnection).Assembly,
    ];

    public IReadOnlyList<PhaseInstrument> Instruments => NServiceBusEndpoint.Instruments;

    public virtual Support Supports(TransactionMode mode) =>
        NServiceBusEndpoint.SupportOf(mode, IsInTwoPhases(mode) ? AnyTwoPhase : Any);

    // In one database, each receive has a connection of the pool, and lends it to the handler.
    public int LeastConnections(TransactionMode mode, int concurrency) => IsInTwoPhases(mode) || mode.NeedsOneDatabase ? concurrency : 1;

    public IReadOnlyList<string> CodeOf(TransactionMode mode) => NServiceBusEndpoint.CodeOf(
        IsInTwoPhases(mode) ? "new TwoPhasePostgreSqlTransport(queues, data)"
        : mode is { NeedsOneDatabase: true } ? "new PostgreSqlTransport(data)"
        : "new PostgreSqlTransport(queues)",
        mode);

    /// <exception cref="ArgumentException">The mode needs one database, and two are named.</exception>
    public void AddEndpoint(IServiceCollection services, EndpointSettings settings, HandleMessage handle)
    {
        if (settings.Mode.NeedsOneDatabase && settings.Transport != settings.Widgets)
            throw new ArgumentException(
                $"In {settings.Mode} queue and widgets must be in one database, reached with one connection string; found two.",
                nameof(settings));

        services.AddSingleton<IHostedService>(new TransportPool(settings.Transport));
        TransportDefinition transport = IsInTwoPhases(settings.Mode)
            ? new TwoPhasePostgreSqlTransport(settings.Transport, settings.Widgets)
            : new PostgreSqlTransport(settings.Transport);
        NServiceBusEndpoint.Add(
            services, settings, handle, HandlerConnections.Open, transport, AddressOf(NServiceBusEndpoint.ErrorQueueOf(settings.Queue)));
    }

    public IMessageQueue OpenQueue(string name, string transport) => new Queue(transport, name);

    private static bool IsInTwoPhases(TransactionMode mode) => mode == TransactionMode.FullDtc;

    // Quoted, because the transport would read the part before a dot as a schema.
    private static string AddressOf(string queue) => $"\"{queue}\"";

    private sealed class Queue(string transport, string name) : ICommittedQueue
    {
        private readonly NpgsqlDataSource source = NpgsqlDataSource.Create(transport);
        private readonly string table = $"public.{AddressOf(name)}";
        private readonly string errors = $"public.{AddressOf(NServiceBusEndpoint.ErrorQueueOf(name))}";

        public string Name => name;

        public async Task CreateAsync(CancellationToken cancellationToken)
        {
            await NServiceBusEndpoint.InstallAsync(
                name, new PostgreSqlTransport(transport), AddressOf(NServiceBusEndpoint.ErrorQueueOf(name)), cancellationToken);
            TransportPool.Close(transport);
        }

        public async Task SubscribeAsync(Type eventType, CancellationToken cancellationToken)
        {
            await NServiceBusEndpoint.SubscribeAsync(
                name, new PostgreSqlTransport(transport), AddressOf(NServiceBusEndpoint.ErrorQueueOf(name)), eventType, cancellationToken);
            TransportPool.Close(transport);
        }

        /// <summary>Adds messages in one transaction: a collection of one with an INSERT, as the transport sends it, others with a binary COPY.</summary>
        public async Task EnqueueAsync(IEnumerable<OutgoingMessage> messages, CancellationToken cancellationToken)
        {
            await using var connection = await source.OpenConnectionAsync(cancellationToken);
            if (messages.TryGetNonEnumeratedCount(out var count) && count == 1)
            {
                var one = messages.Single();
                await using var insert = new NpgsqlCommand($"INSERT INTO {table} (id, headers, body) VALUES ($1, $2, $3)", connection);
                insert.Parameters.Add(new NpgsqlParameter<Guid> { TypedValue = Guid.CreateVersion7() });
                insert.Parameters.Add(new NpgsqlParameter<string> { TypedValue = HeadersOf(one) });
                insert.Parameters.Add(new NpgsqlParameter<byte[]> { TypedValue = one.Body });
                await insert.ExecuteNonQueryAsync(cancellationToken);
                return;
            }

            await using var rows = await connection.BeginBinaryImportAsync($"COPY {table} (id, headers, body) FROM STDIN (FORMAT BINARY)", cancellationToken);
            foreach (var message in messages)
            {
                await rows.StartRowAsync(cancellationToken);
                await rows.WriteAsync(Guid.CreateVersion7(), NpgsqlDbType.Uuid, cancellationToken);
                await rows.WriteAsync(HeadersOf(message), NpgsqlDbType.Text, cancellationToken);
                await rows.WriteAsync(message.Body, NpgsqlDbType.Bytea, cancellationToken);
            }

            await rows.CompleteAsync(cancellationToken);
        }

        public async Task<long> CountAsync(CancellationToken cancellationToken)
        {
            await using var command = source.CreateCommand($"SELECT count(*) FROM {table}");
            return (long)(await command.ExecuteScalarAsync(cancellationToken))!;
        }

        public async Task<IReadOnlyList<Guid>> ReadMessagesAsync(CancellationToken cancellationToken) =>
            [.. (await ReadHeadersAsync(table, cancellationToken)).Select(headers => Guid.Parse(headers[Headers.MessageId]))];

        public Task<IReadOnlyList<T>> ReadBodiesAsync<T>(Func<Guid, ReadOnlyMemory<byte>, T> read, CancellationToken cancellationToken) => ReadAsync(
            $"SELECT headers, body FROM {table} ORDER BY seq",
            row => read(Guid.Parse(HeadersIn(row)[Headers.MessageId]), row.GetFieldValue<byte[]>(1)),
            cancellationToken);

        public Task<IReadOnlyList<CommittedMessage>> ReadCommittedAsync(long position, CancellationToken cancellationToken) =>
            ReadCommittedAsync($"SELECT headers, seq::bigint, pg_xact_commit_timestamp(xmin) FROM {table} WHERE seq > $1", position, cancellationToken);

        public Task<IReadOnlyList<CommittedMessage>> ReadLatestAsync(int most, CancellationToken cancellationToken) => ReadCommittedAsync(
            $"SELECT headers, seq::bigint, pg_xact_commit_timestamp(xmin) FROM {table} ORDER BY seq DESC LIMIT $1", most, cancellationToken);

        public async Task<int?> ReadBodySizeAsync(CancellationToken cancellationToken)
        {
            await using var command = source.CreateCommand($"SELECT octet_length(body) FROM {table} ORDER BY seq LIMIT 1");
            return (int?)await command.ExecuteScalarAsync(cancellationToken);
        }

        public async Task<IReadOnlyList<DeadLetter>> ReadErrorsAsync(CancellationToken cancellationToken) =>
            [.. (await ReadHeadersAsync(errors, cancellationToken)).Select(NServiceBusEndpoint.DeadLetterOf)];

        public ValueTask DisposeAsync() => source.DisposeAsync();

        private Task<IReadOnlyList<Dictionary<string, string>>> ReadHeadersAsync(string from, CancellationToken cancellationToken) =>
            ReadAsync($"SELECT headers FROM {from} ORDER BY seq", HeadersIn, cancellationToken);

        private static string HeadersOf(OutgoingMessage message) => JsonSerializer.Serialize(NServiceBusEndpoint.HeadersOf(message, AddressOf));

        private static Dictionary<string, string> HeadersIn(NpgsqlDataReader row) =>
            JsonSerializer.Deserialize<Dictionary<string, string>>(row.GetString(0))!;

        private async Task<IReadOnlyList<CommittedMessage>> ReadCommittedAsync(string query, long number, CancellationToken cancellationToken)
        {
            await using var command = source.CreateCommand(query);
            command.Parameters.Add(new NpgsqlParameter<long> { TypedValue = number });
            return await ReadAsync(
                command,
                row => new CommittedMessage(row.GetInt64(1), Guid.Parse(HeadersIn(row)[Headers.MessageId]), row.GetFieldValue<DateTimeOffset>(2)),
                cancellationToken);
        }

        private async Task<IReadOnlyList<T>> ReadAsync<T>(string query, Func<NpgsqlDataReader, T> read, CancellationToken cancellationToken)
        {
            await using var command = source.CreateCommand(query);
            return await ReadAsync(command, read, cancellationToken);
        }

        private static async Task<IReadOnlyList<T>> ReadAsync<T>(
            NpgsqlCommand command, Func<NpgsqlDataReader, T> read, CancellationToken cancellationToken)
        {
            await using var reader = await command.ExecuteReaderAsync(cancellationToken);
            var all = new List<T>();
            while (await reader.ReadAsync(cancellationToken))
                all.Add(read(reader));

            return all;
        }
    }
}
