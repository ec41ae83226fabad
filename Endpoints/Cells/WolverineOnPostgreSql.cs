using System.Reflection;
using Kit.Endpoints.Bare;
using Kit.Endpoints.Wolverine;
using Kit.Handlers;
using Kit.Modes;
using Microsoft.EntityFrameworkCore;
using Microsoft.Extensions.DependencyInjection;
using Microsoft.Extensions.Hosting;
using Npgsql;
using NpgsqlTypes;
using Wolverine;
using Wolverine.EntityFrameworkCore;
using Wolverine.Runtime.Serialization;
using Wolverine.Transports;

namespace Kit.Endpoints.Cells;

/// <summary>Wolverine on queues in PostgreSQL. A queue is a table, from which messages move to the inbox before they are handled.</summary>
public sealed class WolverineOnPostgreSql : IEndpointKind
{
    // What the row with the tuned polling has.
    private const int MostMessages = 100;
    private static readonly TimeSpan Pause = TimeSpan.FromMilliseconds(20);

    public FrameworkFacts Facts => FactsOfWolverine.Facts;

    public string Transport => TransportName.PostgreSql;

    public WidgetServer WidgetServer => WidgetServer.PostgreSql;

    public bool CanPollOften => true;

    public Support SupportsEvents => Support.No("on PostgreSQL a Wolverine publisher names the queues of its events; a queue cannot subscribe");

    public Support SupportsProcesses => WolverineEndpoint.IsForOneProcess;

    // The assemblies of its other packages have no version; the packages have this one's.
    public IReadOnlyList<Assembly> Packages { get; } = [typeof(WolverineOptions).Assembly, typeof(NpgsqlConnection).Assembly];

    public Support Supports(TransactionMode mode) => WolverineSupport.Of(mode);

    // Inbox and outbox are next to the queues, and the rows commit with them.
    public bool NeedsOneDatabase(TransactionMode mode) => mode == TransactionMode.Outbox;

    public QueueTable TableOf(string queue) => WolverineNames.EndpointOf(queue) is { } endpoint
        ? new(WolverineNames.DeadLetters, Others: $"received_at <> '{WolverineNames.AddressOf(endpoint)}'")
        : QueueTable.Of(WolverineNames.TableOf(queue));

    public string? OutboxTableOf(TransactionMode mode, string queue) => WolverineNames.Outbox;

    public bool KeepsOutboxWithQueues => true;

    // With the tuned polling.
    public IReadOnlyList<string> CodeOf(TransactionMode mode) =>
    [
        "wolverine.Durability.Mode = DurabilityMode.Solo; // one process",
        $"wolverine.UseTransactionMode({ModeInCode.Of(mode)}, {(NeedsOneDatabase(mode) ? "data" : "queues")}, \"orders\")",
        $"    .UseDurableInbox(new BufferingLimits({WolverineEndpoint.MostInMemory}, {WolverineEndpoint.FewInMemory}))",
        $"    .MaximumMessagesToReceive({MostMessages}).PollingInterval(TimeSpan.FromMilliseconds({Pause.TotalMilliseconds}));",
    ];

    public void AddEndpoint(IServiceCollection services, EndpointSettings settings, HandleMessage handle)
    {
        services.AddSingleton<IHostedService>(new TransportPool(settings.Transport));
        services.AddSingleton(handle);
        services.AddSingleton<AddressOfQueue>(WolverineNames.AddressOf);
        services.AddSingleton(_ => HandlerConnections.Open(settings));
        services.AddDbContextWithWolverineIntegration<WolverineData>(data => data.UseNpgsql(settings.Widgets), WolverineNames.Schema);
        services.AddWolverine(ExtensionDiscovery.ManualOnly, wolverine =>
        {
            WolverineEndpoint.SetForComparison(wolverine);
            wolverine.AddMessageHandler(
                typeof(BuildWidget),
                settings.Mode == TransactionMode.Outbox ? new WolverineHandlerInItsTransaction() : new WolverineHandlerOnItsOwn());
            var listener = wolverine
                .UseTransactionMode(
                    settings.Mode, settings.Transport, WolverineNames.QueueOf(settings.Queue), WolverineNames.Schema, WolverineNames.Schema)
                .MaximumParallelMessages(settings.Concurrency);
            if (settings.PollsOften)
            {
                listener.UseDurableInbox(new BufferingLimits(WolverineEndpoint.MostInMemory, WolverineEndpoint.FewInMemory))
                    .MaximumMessagesToReceive(MostMessages)
                    .PollingInterval(Pause);
            }
        });
    }

    public IMessageQueue OpenQueue(string name, string transport) => new Queue(transport, name);

    private sealed class Queue(string transport, string name) : ICommittedQueue
    {
        private readonly NpgsqlDataSource source = NpgsqlDataSource.Create(transport);
        private readonly string table = $"{WolverineNames.Schema}.{WolverineNames.TableOf(name)}";
        private readonly string later = $"{WolverineNames.Schema}.{WolverineNames.LaterTableOf(name)}";
        private readonly string address = WolverineNames.AddressOf(name).ToString();

        public string Name => name;

        /// <summary>
        /// Lets Wolverine create inbox and outbox, if they are missing. The queue's tables are as Wolverine creates them, which prints each statement.
        /// </summary>
        public async Task CreateAsync(CancellationToken cancellationToken)
        {
            await WolverineInbox.CreateAsync(source, transport, cancellationToken);
            await using var create = source.CreateCommand(WolverineNames.CreateQueue(name));
            await create.ExecuteNonQueryAsync(cancellationToken);
        }

        public Task SubscribeAsync(Type eventType, CancellationToken cancellationToken) =>
            throw new NotSupportedException($"No event arrives in {name}: {new WolverineOnPostgreSql().SupportsEvents.Because}.");

        /// <summary>Adds messages in one transaction. One that is in the queue already is left out, as Wolverine's own sender does.</summary>
        public async Task EnqueueAsync(IEnumerable<OutgoingMessage> messages, CancellationToken cancellationToken)
        {
            await using var connection = await source.OpenConnectionAsync(cancellationToken);
            if (messages.TryGetNonEnumeratedCount(out var count) && count == 1)
            {
                var one = messages.Single();
                await using var insert = new NpgsqlCommand(
                    $"INSERT INTO {table} (id, body, message_type) VALUES ($1, $2, $3) ON CONFLICT (id) DO NOTHING", connection);
                insert.Parameters.Add(new NpgsqlParameter<Guid> { TypedValue = one.MessageId });
                insert.Parameters.Add(new NpgsqlParameter<byte[]> { TypedValue = EnvelopeOf(one) });
                insert.Parameters.Add(new NpgsqlParameter<string> { TypedValue = one.Type });
                await insert.ExecuteNonQueryAsync(cancellationToken);
                return;
            }

            await using var rows = await connection.BeginBinaryImportAsync(
                $"COPY {table} (id, body, message_type) FROM STDIN (FORMAT BINARY)", cancellationToken);
            foreach (var message in messages)
            {
                await rows.StartRowAsync(cancellationToken);
                await rows.WriteAsync(message.MessageId, NpgsqlDbType.Uuid, cancellationToken);
                await rows.WriteAsync(EnvelopeOf(message), NpgsqlDbType.Bytea, cancellationToken);
                await rows.WriteAsync(message.Type, NpgsqlDbType.Text, cancellationToken);
            }

            await rows.CompleteAsync(cancellationToken);
        }

        /// <summary>The messages in the queue, those that wait, and those that the endpoint has moved to its inbox and not yet handled.</summary>
        public async Task<long> CountAsync(CancellationToken cancellationToken)
        {
            // In one statement: a message that moves in the meantime is in one of them.
            await using var command = source.CreateCommand(
                $"SELECT (SELECT count(*) FROM {table}) + (SELECT count(*) FROM {later}) + (SELECT count(*) FROM {WolverineInbox.Unhandled})");
            command.Parameters.Add(new NpgsqlParameter<string> { TypedValue = address });
            return (long)(await command.ExecuteScalarAsync(cancellationToken))!;
        }

        public Task<IReadOnlyList<Guid>> ReadMessagesAsync(CancellationToken cancellationToken) => ReadAsync(IdOf, cancellationToken);

        public Task<IReadOnlyList<T>> ReadBodiesAsync<T>(Func<Guid, ReadOnlyMemory<byte>, T> read, CancellationToken cancellationToken) =>
            ReadAsync(envelope => read(IdOf(envelope), envelope.Data), cancellationToken);

        public Task<IReadOnlyList<CommittedMessage>> ReadCommittedAsync(long position, CancellationToken cancellationToken) =>
            ReadCommittedAsync("WHERE timestamp > 'epoch'::timestamptz + greatest($1, 0) * interval '1 microsecond'", position, cancellationToken);

        public Task<IReadOnlyList<CommittedMessage>> ReadLatestAsync(int most, CancellationToken cancellationToken) =>
            ReadCommittedAsync("ORDER BY timestamp DESC LIMIT $1", most, cancellationToken);

        public async Task<int?> ReadBodySizeAsync(CancellationToken cancellationToken)
        {
            await using var command = source.CreateCommand($"SELECT body FROM {table} ORDER BY timestamp LIMIT 1");
            return await command.ExecuteScalarAsync(cancellationToken) is byte[] envelope ? EnvelopeSerializer.Deserialize(envelope).Data!.Length : null;
        }

        public async Task<IReadOnlyList<DeadLetter>> ReadErrorsAsync(CancellationToken cancellationToken)
        {
            await using var command = source.CreateCommand(
                $"SELECT id, exception_type, exception_message, failed_at FROM {WolverineInbox.DeadLetters} WHERE received_at = $1 ORDER BY failed_at");
            command.Parameters.Add(new NpgsqlParameter<string> { TypedValue = address });
            await using var reader = await command.ExecuteReaderAsync(cancellationToken);
            var all = new List<DeadLetter>();
            while (await reader.ReadAsync(cancellationToken))
            {
                all.Add(new DeadLetter(reader.GetGuid(0), FailedAttempts: null, $"{reader.GetValue(1)}: {reader.GetValue(2)}")
                {
                    FailedAt = reader.IsDBNull(3) ? null : reader.GetFieldValue<DateTimeOffset>(3),
                });
            }

            return all;
        }

        public ValueTask DisposeAsync() => source.DisposeAsync();

        // The queue has no numbers. A message has the moment at which the transaction that sent it began, and that is after its handler's message was sent.
        private const string Place = "(extract(epoch FROM timestamp) * 1000000)::bigint";

        private static Guid IdOf(Envelope envelope) => WolverineEndpoint.IdOf(envelope.Id, envelope.Data);

        private byte[] EnvelopeOf(OutgoingMessage message) => EnvelopeSerializer.Serialize(new Envelope
        {
            Id = message.MessageId,
            MessageType = message.Type,
            ContentType = "application/json",
            Data = message.Body,
            Destination = WolverineNames.AddressOf(name),
            ReplyUri = message.ReplyTo is { } queue ? WolverineNames.AddressOf(queue) : null,
        });

        // Messages that somebody has received are no longer there.
        private async Task<IReadOnlyList<CommittedMessage>> ReadCommittedAsync(string which, long number, CancellationToken cancellationToken)
        {
            await using var command = source.CreateCommand($"SELECT body, {Place}, pg_xact_commit_timestamp(xmin) FROM {table} {which}");
            command.Parameters.Add(new NpgsqlParameter<long> { TypedValue = number });
            await using var reader = await command.ExecuteReaderAsync(cancellationToken);
            var all = new List<CommittedMessage>();
            while (await reader.ReadAsync(cancellationToken))
            {
                var sent = EnvelopeSerializer.Deserialize(reader.GetFieldValue<byte[]>(0));
                all.Add(new CommittedMessage(reader.GetInt64(1), IdOf(sent), reader.GetFieldValue<DateTimeOffset>(2)));
            }

            return all;
        }

        private async Task<IReadOnlyList<T>> ReadAsync<T>(Func<Envelope, T> read, CancellationToken cancellationToken)
        {
            await using var command = source.CreateCommand(
                $"""
                 SELECT body
                 FROM (SELECT body, timestamp FROM {table}
                       UNION ALL SELECT body, NULL FROM {later}
                       UNION ALL SELECT body, NULL FROM {WolverineInbox.Unhandled}) AS left_over
                 ORDER BY timestamp NULLS FIRST
                 """);
            command.Parameters.Add(new NpgsqlParameter<string> { TypedValue = address });
            await using var reader = await command.ExecuteReaderAsync(cancellationToken);
            var all = new List<T>();
            while (await reader.ReadAsync(cancellationToken))
                all.Add(read(EnvelopeSerializer.Deserialize(reader.GetFieldValue<byte[]>(0))));
            return all;
        }
    }
}
