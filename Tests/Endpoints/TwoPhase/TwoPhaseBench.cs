using System.Data.Common;
using Kit.Endpoints.Bare;
using Kit.Endpoints.Bare.PostgreSql;
using Kit.Handlers;
using Kit.Modes;
using Kit.Tests.Bare;
using Microsoft.Extensions.DependencyInjection;
using Microsoft.Extensions.Hosting;
using Microsoft.Extensions.Logging;
using Npgsql;

namespace Kit.Tests.TwoPhase;

/// <summary>One queue in full-dtc, any number of endpoints on it with the pools that a test gives them, and what they log.</summary>
internal sealed class TwoPhaseBench : IAsyncDisposable
{
    private const string Name = "work";

    private readonly List<IHost> hosts = [];
    private readonly WarningsOfAHost log = new();

    private TwoPhaseBench(TestDatabases databases)
    {
        Databases = databases;
        Queue = new PostgreSqlQueue(databases.Queue, Name);
    }

    public TestDatabases Databases { get; }

    public PostgreSqlQueue Queue { get; }

    /// <summary>What all endpoints logged so far, from warnings on.</summary>
    public IReadOnlyCollection<string> Log => log.Lines;

    public static async Task<TwoPhaseBench> CreateAsync(string? server = null)
    {
        var bench = new TwoPhaseBench(await TestDatabases.CreateAsync(server));
        await bench.Queue.CreateAsync(CancellationToken.None);
        return bench;
    }

    public static async Task InsertAsync(MessageContext context, CancellationToken cancellationToken) =>
        await ExecuteAsync(
            await context.GetConnectionAsync(cancellationToken),
            $"INSERT INTO widget (id, message_id) VALUES ({WidgetId.Next()}, '{context.MessageId}')");

    public static async Task ExecuteAsync(DbConnection connection, string statement)
    {
        await using var command = connection.CreateCommand();
        command.CommandText = statement;
        await command.ExecuteNonQueryAsync();
    }

    public async Task<IReadOnlyList<Guid>> EnqueueAsync(int count)
    {
        var messages = Enumerable.Range(0, count).Select(_ => Guid.CreateVersion7()).ToList();
        await Queue.EnqueueAsync(messages.Select(id => OutgoingMessage.Create(Name, new Todo(), id)), CancellationToken.None);
        return messages;
    }

    /// <summary>Deletes the messages of a queue, except the first ones and those that a session has received.</summary>
    /// <returns>The ids of the deleted ones.</returns>
    public static async Task<IReadOnlySet<Guid>> DeleteBehindFirstAsync(string connection, string queue)
    {
        await using var source = NpgsqlDataSource.Create(new NpgsqlConnectionStringBuilder(connection) { Pooling = false, Enlist = false });
        await using var delete = source.CreateCommand(
            $"""
            DELETE FROM "{queue}" WHERE position = ANY (ARRAY(SELECT position FROM "{queue}" ORDER BY position OFFSET 200 FOR UPDATE SKIP LOCKED))
            RETURNING message_id
            """);
        await using var reader = await delete.ExecuteReaderAsync();
        var deleted = new HashSet<Guid>();
        while (await reader.ReadAsync())
            deleted.Add(reader.GetGuid(0));

        return deleted;
    }

    /// <summary>Starts one more endpoint on the queue.</summary>
    /// <param name="mode">One of two-phase commit.</param>
    /// <param name="concurrency">Its workers.</param>
    /// <param name="work">What its handler does.</param>
    /// <param name="pool">The size of both pools, whose waiting lasts a minute; the driver's defaults when not given.</param>
    public Task StartAsync(TransactionMode mode, int concurrency, Work work, int? pool = null) =>
        StartAsync(mode, concurrency, work, WithPool(Databases.Queue, pool), WithPool(Databases.Widgets, pool));

    public async Task StartAsync(TransactionMode mode, int concurrency, Work work, string queue, string data)
    {
        var builder = Host.CreateEmptyApplicationBuilder(settings: null);
        builder.Logging.AddProvider(log);
        builder.Services.AddSingleton(work).AddBareEndpoint(Name, endpoint => endpoint
            .UsePostgreSql(queue, data)
            .UseTransactionMode(mode)
            .LimitConcurrency(concurrency)
            .PauseAfterOutage(TimeSpan.FromMilliseconds(50))
            .Handle<Todo, TodoHandler>());
        var host = builder.Build();
        hosts.Add(host);
        await host.StartAsync();
    }

    public async Task<bool> IsDrainedAsync() => await Queue.CountAsync(CancellationToken.None) == 0 && await Databases.CountPreparedAsync() == 0;

    public Task DrainedAsync() => Eventually.HoldsAsync(IsDrainedAsync, "the queue is empty and nothing is prepared");

    public async Task StopAsync()
    {
        foreach (var host in hosts)
        {
            await host.StopAsync();
            await ((IAsyncDisposable)host).DisposeAsync();
        }

        hosts.Clear();
    }

    public Task<IReadOnlyList<DeadLetter>> ReadErrorsAsync() => Queue.ReadErrorsAsync(CancellationToken.None);

    public async ValueTask DisposeAsync()
    {
        await StopAsync();
        await Queue.DisposeAsync();
        log.Dispose();
        await Databases.RollBackPreparedAsync();
        await Databases.DisposeAsync();
    }

    private static string WithPool(string connection, int? pool) => pool is { } size
        ? new NpgsqlConnectionStringBuilder(connection) { MaxPoolSize = size, Timeout = 60 }.ConnectionString
        : connection;

    internal sealed record Todo;

    private sealed class TodoHandler(Work work) : IMessageHandler<Todo>
    {
        public Task HandleAsync(Todo message, MessageContext context, CancellationToken cancellationToken) => work(context, cancellationToken);
    }
}
