using System.Data.Common;
using System.Globalization;
using System.Reflection;
using System.Text.Json;
using Kit.Endpoints.Bare;
using Kit.Endpoints.Rebus.PostgreSql;
using Kit.Handlers;
using Kit.Modes;
using Microsoft.Extensions.DependencyInjection;
using Microsoft.Extensions.Hosting;
using Npgsql;
using NpgsqlTypes;
using Rebus.Backoff;
using Rebus.Bus;
using Rebus.Config;
using Rebus.Handlers;
using Rebus.Logging;
using Rebus.Messages;
using Rebus.Pipeline;
using Rebus.PostgreSql;
using Rebus.PostgreSql.Subscriptions;
using Rebus.Retry.Simple;
using Rebus.Topic;
using IMessageContext = Kit.Handlers.IMessageContext;
using MessageContext = Rebus.Pipeline.MessageContext;

namespace Kit.Endpoints.Cells;

/// <summary>Rebus on queues in PostgreSQL. One table holds the messages of all queues.</summary>
public sealed class RebusOnPostgreSql : IEndpointKind
{
    private const string Messages = "messages";
    private const string Subscriptions = "subscriptions";

    private static readonly TimeSpan ReceiveErrorPause = TimeSpan.FromSeconds(5);

    public FrameworkFacts Facts => FactsOfRebus.Facts;

    public string Transport => TransportName.PostgreSql;

    public WidgetServer WidgetServer => WidgetServer.PostgreSql;

    public bool CanDeadLetterNext => true;

    public bool TakesUnknownQueues => true;

    public IReadOnlyList<Assembly> Packages { get; } = [typeof(IBus).Assembly, typeof(PostgresConnection).Assembly, typeof(NpgsqlConnection).Assembly];

    public Support Supports(TransactionMode mode) => RebusSupport.Of(mode);

    // In one database, each receive has a connection of the pool, and lends it to the handler.
    public int LeastConnections(TransactionMode mode, int concurrency) => mode is { NeedsOneDatabase: true } ? concurrency : 1;

    public QueueTable TableOf(string queue) => new(Messages, Others: $"recipient <> '{queue.Replace("'", "''", StringComparison.Ordinal)}'");

    // With the moment that leaves nothing of an attempt that failed.
    public IReadOnlyList<string> CodeOf(TransactionMode mode) =>
    [
        $"rebus.UseTransactionMode({ModeInCode.Of(mode)}, {(mode is { NeedsOneDatabase: true } ? "data" : "queues")}, \"messages\", \"orders\",",
        "    ErrorHandlerMode.NextDelivery);",
    ];

    public void AddEndpoint(IServiceCollection services, EndpointSettings settings, HandleMessage handle)
    {
        services.AddSingleton<IHostedService>(new TransportPool(settings.Transport));
        services.AddSingleton(handle);
        services.AddSingleton(new HandlerSettings(settings.Mode));
        services.AddSingleton(_ => HandlerConnections.Open(settings));
        services.AddRebusHandler<BuildWidgetHandler>();
        services.AddRebus(rebus => rebus
            .UseTransactionMode(
                settings.Mode, settings.Transport, Messages, settings.Queue,
                settings.DeadLettersNext ? ErrorHandlerMode.NextDelivery : ErrorHandlerMode.Immediately,
                settings.TransactionTimeout)
            .Subscriptions(subscriptions => subscriptions.StoreInPostgres(settings.Transport, Subscriptions, isCentralized: true))
            .Options(options => SetForComparison(options, settings.Concurrency)));
    }

    public IMessageQueue OpenQueue(string name, string transport) => new Queue(transport, name);

    // What the comparison requires, in every mode and at both moments to dead-letter.
    private static void SetForComparison(OptionsConfigurer options, int concurrency)
    {
        options.SetMaxParallelism(concurrency);
        // A worker that finds as many messages in progress as it may pauses for the first time, by default 100 ms: at a concurrency of 2, every mode would
        // handle 20 messages a second. After as many seconds without a message it pauses for the later times.
        options.SetBackoffTimes(TimeSpan.FromMilliseconds(1), TimeSpan.FromMilliseconds(20), TimeSpan.FromMilliseconds(160));
        // By default a failed receive is repeated after 30 s, and a storm would wait for that after each cut.
        options.Decorate(context =>
        {
            var all = context.Get<Options>();
            all.TransportReceiveErrorCooldownTime = ReceiveErrorPause;
            return all;
        });
    }

    // Not private, because Rebus creates it.
    internal sealed class BuildWidgetHandler(HandleMessage handle, NpgsqlDataSource data, IBus bus, HandlerSettings settings) : IHandleMessages<BuildWidget>
    {
        // Rebus gives a handler no token.
        public async Task Handle(BuildWidget message)
        {
            await using var adapter = new Adapter(MessageContext.Current, bus, data, settings.Mode);
            await handle(message, adapter, CancellationToken.None);
        }
    }

    // Not private, because the handler's constructor takes it.
    internal sealed record HandlerSettings(TransactionMode Mode);

    private sealed class Adapter(global::Rebus.Pipeline.IMessageContext context, IBus bus, NpgsqlDataSource data, TransactionMode mode)
        : IMessageContext, IAsyncDisposable
    {
        private NpgsqlConnection? own;

        private NpgsqlTransaction? Received => field ??= mode == TransactionMode.Shared ? context.GetReceiveTransaction() : null;

        public async ValueTask<DbConnection> GetAsync(CancellationToken cancellationToken) =>
            Received?.Connection ?? (own ??= await data.OpenConnectionAsync(cancellationToken));

        public ValueTask<DbTransaction?> GetTransactionAsync(CancellationToken cancellationToken) => ValueTask.FromResult<DbTransaction?>(Received);

        public Task SendAsync(string queue, WidgetBuilt message, CancellationToken cancellationToken) =>
            bus.Advanced.Routing.Send(queue, message, With(message.MessageId));

        public Task ReplyAsync(WidgetBuilt message, CancellationToken cancellationToken) => bus.Reply(message, With(message.MessageId));

        public Task PublishAsync(WidgetReady message, CancellationToken cancellationToken) => bus.Publish(message, With(message.MessageId));

        public ValueTask DisposeAsync() => own?.DisposeAsync() ?? ValueTask.CompletedTask;

        private static Dictionary<string, string> With(Guid messageId) => new() { [Headers.MessageId] = messageId.ToString() };
    }

    private sealed class Queue(string transport, string name) : ICommittedQueue
    {
        private const string Columns = "recipient, headers, body, priority, visible, expiration";

        /// <summary>The lifetime of a message that its sender does not limit, in seconds, as the transport writes it.</summary>
        private const int Lifetime = int.MaxValue;

        private readonly NpgsqlDataSource source = NpgsqlDataSource.Create(transport);

        public string Name => name;

        /// <summary>Creates the table of all queues with a client that only sends, if it is missing. The queue needs nothing else.</summary>
        public Task CreateAsync(CancellationToken cancellationToken)
        {
            using (Configure.OneWayClient()
                .Logging(log => log.None())
                .Transport(table => table.UsePostgreSqlAsOneWayClient(transport, Messages))
                .Start())
            {
                TransportPool.Close(transport);
            }

            return Task.CompletedTask;
        }

        public async Task SubscribeAsync(Type eventType, CancellationToken cancellationToken)
        {
            var storage = new PostgreSqlSubscriptionStorage(
                new PostgresConnectionHelper(transport), Subscriptions, isCentralized: true, new NullLoggerFactory());
            storage.EnsureTableIsCreated();
            await storage.RegisterSubscriber(new DefaultTopicNameConvention().GetTopic(eventType), name);
            TransportPool.Close(transport);
        }

        /// <summary>Adds messages in one transaction: a collection of one with an INSERT, as the transport sends it, others with a binary COPY.</summary>
        public async Task EnqueueAsync(IEnumerable<OutgoingMessage> messages, CancellationToken cancellationToken)
        {
            await using var connection = await source.OpenConnectionAsync(cancellationToken);
            if (messages.TryGetNonEnumeratedCount(out var count) && count == 1)
            {
                var one = messages.Single();
                await using var insert = new NpgsqlCommand(
                    $"INSERT INTO {Messages} ({Columns}) VALUES ($1, $2, $3, 0, now(), now() + make_interval(secs => {Lifetime}))", connection);
                insert.Parameters.Add(new NpgsqlParameter<string> { TypedValue = name });
                insert.Parameters.Add(new NpgsqlParameter<byte[]> { TypedValue = HeadersOf(one) });
                insert.Parameters.Add(new NpgsqlParameter<byte[]> { TypedValue = one.Body });
                await insert.ExecuteNonQueryAsync(cancellationToken);
                return;
            }

            // A message is visible from a moment on that the server's clock must have reached.
            await using var clock = new NpgsqlCommand("SELECT now()", connection);
            var now = (DateTime)(await clock.ExecuteScalarAsync(cancellationToken))!;
            await using var rows = await connection.BeginBinaryImportAsync($"COPY {Messages} ({Columns}) FROM STDIN (FORMAT BINARY)", cancellationToken);
            foreach (var message in messages)
            {
                await rows.StartRowAsync(cancellationToken);
                await rows.WriteAsync(name, NpgsqlDbType.Text, cancellationToken);
                await rows.WriteAsync(HeadersOf(message), NpgsqlDbType.Bytea, cancellationToken);
                await rows.WriteAsync(message.Body, NpgsqlDbType.Bytea, cancellationToken);
                await rows.WriteAsync(0, NpgsqlDbType.Integer, cancellationToken);
                await rows.WriteAsync(now, NpgsqlDbType.TimestampTz, cancellationToken);
                await rows.WriteAsync(now.AddSeconds(Lifetime), NpgsqlDbType.TimestampTz, cancellationToken);
            }

            await rows.CompleteAsync(cancellationToken);
        }

        public async Task<long> CountAsync(CancellationToken cancellationToken)
        {
            await using var command = Command($"SELECT count(*) FROM {Messages} WHERE recipient = $1", name);
            return (long)(await command.ExecuteScalarAsync(cancellationToken))!;
        }

        public Task<IReadOnlyList<Guid>> ReadMessagesAsync(CancellationToken cancellationToken) => ReadAsync(
            $"SELECT headers FROM {Messages} WHERE recipient = $1 ORDER BY id", name, row => IdIn(HeadersIn(row)), cancellationToken);

        public Task<IReadOnlyList<T>> ReadBodiesAsync<T>(Func<Guid, ReadOnlyMemory<byte>, T> read, CancellationToken cancellationToken) => ReadAsync(
            $"SELECT headers, body FROM {Messages} WHERE recipient = $1 ORDER BY id",
            name,
            row => read(IdIn(HeadersIn(row)), row.GetFieldValue<byte[]>(1)),
            cancellationToken);

        public Task<IReadOnlyList<CommittedMessage>> ReadCommittedAsync(long position, CancellationToken cancellationToken) =>
            ReadCommittedAsync("AND id > $2", position, cancellationToken);

        public Task<IReadOnlyList<CommittedMessage>> ReadLatestAsync(int most, CancellationToken cancellationToken) =>
            ReadCommittedAsync("ORDER BY id DESC LIMIT $2", most, cancellationToken);

        public async Task<int?> ReadBodySizeAsync(CancellationToken cancellationToken)
        {
            await using var command = Command($"SELECT octet_length(body) FROM {Messages} WHERE recipient = $1 ORDER BY id LIMIT 1", name);
            return (int?)await command.ExecuteScalarAsync(cancellationToken);
        }

        public Task<IReadOnlyList<DeadLetter>> ReadErrorsAsync(CancellationToken cancellationToken) => ReadAsync(
            $"SELECT headers FROM {Messages} WHERE recipient = $1 ORDER BY id",
            ErrorQueue.Of(name),
            row => DeadLetterOf(HeadersIn(row)),
            cancellationToken);

        public ValueTask DisposeAsync() => source.DisposeAsync();

        private static byte[] HeadersOf(OutgoingMessage message)
        {
            var headers = new Dictionary<string, string>
            {
                [Headers.MessageId] = message.MessageId.ToString(),
                // All messages of the kit are in one assembly.
                [Headers.Type] = $"{message.Type}, {typeof(BuildWidget).Assembly.GetName().Name}",
                [Headers.ContentType] = "application/json;charset=utf-8",
            };
            if (message.ReplyTo is { } queue)
                headers[Headers.ReturnAddress] = queue;
            return JsonSerializer.SerializeToUtf8Bytes(headers);
        }

        private static Dictionary<string, string> HeadersIn(NpgsqlDataReader row) =>
            JsonSerializer.Deserialize<Dictionary<string, string>>(row.GetFieldValue<byte[]>(0))!;

        private static Guid IdIn(Dictionary<string, string> headers) => Guid.Parse(headers[Headers.MessageId]);

        /// <summary>Reads the headers of a message in the error queue. The details begin with the number of failed attempts.</summary>
        private static DeadLetter DeadLetterOf(Dictionary<string, string> headers)
        {
            var details = headers.GetValueOrDefault(Headers.ErrorDetails, "");
            return new(
                Guid.TryParse(headers.GetValueOrDefault(Headers.MessageId), out var id) ? id : Guid.Empty,
                int.TryParse(details.Split(' ')[0], CultureInfo.InvariantCulture, out var attempts) ? attempts : null,
                details)
            {
                Type = headers.GetValueOrDefault(Headers.Type, ""),
            };
        }

        private async Task<IReadOnlyList<CommittedMessage>> ReadCommittedAsync(string which, long number, CancellationToken cancellationToken)
        {
            await using var command = Command(
                $"SELECT headers, id::bigint, pg_xact_commit_timestamp(xmin) FROM {Messages} WHERE recipient = $1 {which}", name);
            command.Parameters.Add(new NpgsqlParameter<long> { TypedValue = number });
            return await ReadAsync(
                command,
                row => new CommittedMessage(row.GetInt64(1), IdIn(HeadersIn(row)), row.GetFieldValue<DateTimeOffset>(2)),
                cancellationToken);
        }

        private async Task<IReadOnlyList<T>> ReadAsync<T>(
            string query, string recipient, Func<NpgsqlDataReader, T> read, CancellationToken cancellationToken)
        {
            await using var command = Command(query, recipient);
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

        private NpgsqlCommand Command(string text, string recipient)
        {
            var command = source.CreateCommand(text);
            command.Parameters.Add(new NpgsqlParameter<string> { TypedValue = recipient });
            return command;
        }
    }
}
