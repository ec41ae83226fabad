using Kit.Endpoints.Bare;
using Kit.Endpoints.Cells;
using Kit.Handlers;
using Microsoft.Extensions.DependencyInjection;
using Microsoft.Extensions.Hosting;
using Npgsql;
using Rebus.Bus;
using Rebus.Config;
using Rebus.Handlers;

namespace Kit.Tests.Rebus;

/// <summary>A program with one Rebus endpoint, whose rows and queues are in one database, and one message in its queue.</summary>
internal sealed class RebusBench : IAsyncDisposable
{
    public const string Table = "messages";
    public const string Queue = "work";
    public const string Errors = "work_error";

    private const string Sink = "built";

    private static readonly RebusOnPostgreSql Kind = new();

    private readonly TestDatabases databases;
    private readonly IMessageQueue queue;
    private readonly IMessageQueue sink;
    private readonly BuildWidget message = new(Guid.CreateVersion7());
    private IHost? running;

    private RebusBench(TestDatabases databases)
    {
        this.databases = databases;
        queue = Kind.OpenQueue(Queue, Database);
        sink = Kind.OpenQueue(Sink, Database);
    }

    public string Database => databases.Widgets;

    public static async Task<RebusBench> CreateAsync()
    {
        var bench = new RebusBench(await TestDatabases.CreateAsync());
        await bench.queue.CreateAsync(CancellationToken.None);
        await bench.queue.PreloadAsync([bench.message], CancellationToken.None);
        return bench;
    }

    /// <param name="configure">Sets transport, retries and the like.</param>
    /// <param name="handle">The handler; its first argument sends a message.</param>
    /// <param name="other">Another handler of the same message.</param>
    /// <param name="create">What the handler's constructor does.</param>
    public async Task StartAsync(
        Action<RebusConfigurer> configure, Func<Func<Task>, Task> handle, Func<Task>? other = null, Action? create = null)
    {
        var host = Host.CreateEmptyApplicationBuilder(settings: null);
        host.Services.AddRebusHandler(services =>
        {
            create?.Invoke();
            return new Handler(services.GetRequiredService<IBus>(), handle);
        });
        if (other is not null)
            host.Services.AddRebusHandler(_ => new OtherHandler(other));
        host.Services.AddRebus(rebus =>
        {
            configure(rebus);
            return rebus;
        });
        running = host.Build();
        await running.StartAsync();
    }

    /// <summary>Starts it, and stops it when its queue is empty.</summary>
    /// <inheritdoc cref="StartAsync" path="/param"/>
    public async Task DrainAsync(
        Action<RebusConfigurer> configure, Func<Func<Task>, Task> handle, Func<Task>? other = null, Action? create = null)
    {
        await StartAsync(configure, handle, other, create);
        await Eventually.HoldsAsync(async () => await CountQueueAsync() == 0, "the queue is empty");
        await StopAsync();
    }

    public async Task StopAsync()
    {
        if (running is null)
            return;

        await running.StopAsync();
        await ((IAsyncDisposable)running).DisposeAsync();
        running = null;
    }

    public async Task InsertAsync(NpgsqlConnection connection, long? id = null)
    {
        await using var command = new NpgsqlCommand("INSERT INTO widget (id, message_id) VALUES ($1, $2)", connection)
        {
            Parameters = { new() { Value = id ?? Random.Shared.NextInt64() }, new() { Value = message.MessageId } },
        };
        await command.ExecuteNonQueryAsync();
    }

    public Task<int> CountRowsAsync() => databases.CountRowsAsync();

    public Task<long> CountQueueAsync() => queue.CountAsync(CancellationToken.None);

    public Task<long> CountSentAsync() => sink.CountAsync(CancellationToken.None);

    public Task<IReadOnlyList<DeadLetter>> ReadErrorsAsync() => queue.ReadErrorsAsync(CancellationToken.None);

    public async ValueTask DisposeAsync()
    {
        await StopAsync();
        await using (var pool = new NpgsqlConnection(Database))
            NpgsqlConnection.ClearPool(pool);
        await queue.DisposeAsync();
        await sink.DisposeAsync();
        await databases.DisposeAsync();
    }

    private sealed class Handler(IBus bus, Func<Func<Task>, Task> handle) : IHandleMessages<BuildWidget>
    {
        public Task Handle(BuildWidget message) => handle(() => bus.Advanced.Routing.Send(Sink, new WidgetBuilt(message.MessageId)));
    }

    private sealed class OtherHandler(Func<Task> handle) : IHandleMessages<BuildWidget>
    {
        public Task Handle(BuildWidget message) => handle();
    }
}
