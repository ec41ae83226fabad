using Kit.Endpoints.Bare;
using Kit.Endpoints.Bare.Health;
using Kit.Endpoints.Bare.Outbox;
using Kit.Endpoints.Cells;
using Kit.Handlers;
using Kit.Modes;
using Kit.Tests.Bare;
using Microsoft.Extensions.DependencyInjection;
using Microsoft.Extensions.Hosting;
using Microsoft.Extensions.Logging;
using Npgsql;

namespace Kit.Tests.Outbox;

/// <summary>What the handler of a test sends for a message: a queue and an id for each.</summary>
internal delegate IReadOnlyList<(string Queue, Guid MessageId)> Sends(Guid messageId);

/// <summary>A bare endpoint in <c>outbox</c> on either transport, whose handler inserts a row and sends what a test says.</summary>
internal sealed class OutboxBench : IAsyncDisposable
{
    public const string Endpoint = "orders";

    /// <summary>For a test that counts what is sent: a search sends again what a worker of a busy machine has not sent by then.</summary>
    public static readonly OutboxSchedule Patient = new(Interval: TimeSpan.FromMilliseconds(300), Grace: TimeSpan.FromSeconds(5));

    /// <summary>For a test in which the workers alone are to send.</summary>
    public static readonly OutboxSchedule Never = new(Interval: TimeSpan.FromHours(1), Grace: TimeSpan.FromHours(1));

    private static readonly OutboxSchedule Schedule = new(Interval: TimeSpan.FromMilliseconds(300), Grace: TimeSpan.FromMilliseconds(200));

    private readonly Cell cell;
    private readonly TestTransport space;
    private readonly List<IMessageQueue> queues = [];
    private int entered;

    private OutboxBench(Cell cell, TestDatabases databases, TestTransport space)
    {
        this.cell = cell;
        this.space = space;
        Databases = databases;
        Queue = OpenQueue(Endpoint);
    }

    public TestDatabases Databases { get; }

    /// <summary>Connection string of the transport.</summary>
    public string Transport => space.Address;

    public IMessageQueue Queue { get; }

    /// <summary>How often the handler was entered.</summary>
    public int Entered => Volatile.Read(ref entered);

    /// <param name="transport">The transport's name.</param>
    /// <param name="server">Connection string of the database server; the tests' own when not given.</param>
    public static async Task<OutboxBench> CreateAsync(string transport, string? server = null)
    {
        var outbox = Cell.All.Single(one => one.Name == $"bare.{transport}.outbox.ado");
        var databases = await TestDatabases.CreateAsync(server);
        var bench = new OutboxBench(outbox, databases, await TestTransport.OpenAsync(outbox, databases));
        await bench.Queue.CreateAsync(CancellationToken.None);
        return bench;
    }

    /// <summary>Gives a host's bare endpoint another schedule before its start. A host without one is left as it is.</summary>
    public static void SetSchedule(IHost host, string endpoint, OutboxSchedule schedule)
    {
        if (host.Services.GetKeyedService<BareEndpointBuilder>(endpoint) is { } bare)
            bare.OutboxSchedule = schedule;
    }

    /// <summary>A queue that may not exist yet.</summary>
    public IMessageQueue OpenQueue(string name)
    {
        var queue = cell.Kind.OpenQueue(name, space.Address);
        queues.Add(queue);
        return queue;
    }

    /// <summary>The endpoint, not started.</summary>
    /// <param name="sends">What its handler sends.</param>
    /// <param name="queues">Another way to its queues.</param>
    /// <param name="widgets">Another way to its rows.</param>
    /// <param name="work">What its handler does after its insert and before its sends.</param>
    /// <param name="schedule">When its outbox is searched; often, when not given.</param>
    /// <param name="log">Receives what the endpoint logs.</param>
    public IHost Build(
        Sends sends, string? queues = null, string? widgets = null, Work? work = null, OutboxSchedule? schedule = null, ILoggerProvider? log = null)
    {
        var (transport, data) = (queues ?? space.Address, widgets ?? Databases.Widgets);
        var host = Host.CreateEmptyApplicationBuilder(settings: null);
        if (log is not null)
            host.Logging.AddProvider(log);
        host.Services.AddSingleton<Handle>(async (message, context, cancellationToken) =>
        {
            Interlocked.Increment(ref entered);
            await using var insert = (await context.GetConnectionAsync(cancellationToken)).CreateCommand();
            insert.CommandText = $"INSERT INTO widget (id, message_id) VALUES ({WidgetId.Next()}, '{message.MessageId}')";
            await insert.ExecuteNonQueryAsync(cancellationToken);
            await (work?.Invoke(context, cancellationToken) ?? Task.CompletedTask);
            foreach (var (queue, messageId) in sends(message.MessageId))
                await context.SendAsync(queue, new WidgetBuilt(message.MessageId), messageId, cancellationToken: cancellationToken);
        });
        host.Services.AddBareEndpoint(Endpoint, endpoint =>
        {
            _ = cell.Kind.Transport == TransportName.RabbitMq
                ? endpoint.UseRabbitMq(transport, data)
                : endpoint.UsePostgreSql(transport, data);
            endpoint.OutboxSchedule = schedule ?? Schedule;
            // However long the machine keeps a handler from ending that was told to.
            endpoint.StopPatience = TimeSpan.FromMinutes(1);
            endpoint.UseTransactionMode(TransactionMode.Outbox).LimitConcurrency(2).Handle<BuildWidget, Handler>();
        });
        return host.Build();
    }

    public Task SendAsync(Guid message) => Queue.PreloadAsync([new BuildWidget(message)], CancellationToken.None);

    public async Task<IReadOnlyList<Guid>> SendAsync(int messages)
    {
        var sent = Enumerable.Range(0, messages).Select(_ => new BuildWidget(Guid.CreateVersion7())).ToList();
        await Queue.PreloadAsync(sent, CancellationToken.None);
        return [.. sent.Select(message => message.MessageId)];
    }

    public Task<int> CountWaitingAsync() => TestDatabases.ScalarAsync(Databases.Widgets, $"SELECT count(*)::int FROM {Endpoint}_outbox");

    /// <summary>Leaves in the outbox what a crash would: messages that were handled, and for each what it sent, undispatched.</summary>
    /// <returns>The messages.</returns>
    public async Task<IReadOnlyList<Guid>> LeaveAsync(int messages, params string[] queues)
    {
        await using var widgets = NpgsqlDataSource.Create(Databases.Widgets);
        await new OutboxStore(widgets, Endpoint, TransactionMode.Outbox.Isolation, retention: null).CreateAsync(CancellationToken.None);
        await using var leave = widgets.CreateCommand(
            $$"""
            WITH handled AS (
                INSERT INTO {{Endpoint}}_inbox (message_id) SELECT gen_random_uuid() FROM generate_series(1, $1) RETURNING message_id)
            INSERT INTO {{Endpoint}}_outbox (causation_id, position, message_id, queue, type, body)
            SELECT handled.message_id, sent.position, gen_random_uuid(), sent.queue, 'Kit.Handlers.WidgetBuilt', '{}'
            FROM handled CROSS JOIN unnest($2) WITH ORDINALITY AS sent (queue, position)
            RETURNING causation_id
            """);
        leave.Parameters.Add(new NpgsqlParameter<int> { TypedValue = messages });
        leave.Parameters.Add(new NpgsqlParameter<string[]> { TypedValue = queues });
        await using var reader = await leave.ExecuteReaderAsync();
        var left = new HashSet<Guid>();
        while (await reader.ReadAsync())
            left.Add(reader.GetGuid(0));

        return [.. left];
    }

    public async Task<OutboxBacklog> ReadBacklogAsync()
    {
        await using var widgets = NpgsqlDataSource.Create(Databases.Widgets);
        return await new OutboxStore(widgets, Endpoint, TransactionMode.Outbox.Isolation, retention: null).ReadBacklogAsync(CancellationToken.None);
    }

    /// <summary>Waits until nothing is left in the endpoint's queue.</summary>
    public Task DrainedAsync() =>
        Eventually.HoldsAsync(async () => await Queue.CountAsync(CancellationToken.None) == 0, "the queue is empty");

    public async ValueTask DisposeAsync()
    {
        foreach (var queue in queues)
            await queue.DisposeAsync();

        await space.DisposeAsync();
        await Databases.DisposeAsync();
    }

    private delegate Task Handle(BuildWidget message, MessageContext context, CancellationToken cancellationToken);

    private sealed class Handler(Handle handle) : IMessageHandler<BuildWidget>
    {
        public Task HandleAsync(BuildWidget message, MessageContext context, CancellationToken cancellationToken) =>
            handle(message, context, cancellationToken);
    }
}
