using Kit.Endpoints.Bare;
using Kit.Endpoints.Bare.PostgreSql;
using Kit.Handlers;
using Kit.Modes;
using Microsoft.Extensions.DependencyInjection;
using Microsoft.Extensions.Hosting;

namespace Kit.Tests.Bare;

/// <summary>What a test lets the bare endpoint's handler do.</summary>
public delegate Task Work(MessageContext context, CancellationToken cancellationToken);

/// <summary>A bare endpoint used as an application would use it, with a handler that does what a test says.</summary>
internal sealed class BareBench : IAsyncDisposable
{
    /// <summary>The modes that PostgreSQL has.</summary>
    public static IEnumerable<TransactionMode> Modes => TransactionMode.All.Where(mode => PostgreSqlSupport.Of(mode).IsSupported);

    private readonly PostgreSqlQueue apart;
    private readonly PostgreSqlQueue withWidgets;

    private BareBench(TestDatabases databases)
    {
        Databases = databases;
        apart = new PostgreSqlQueue(databases.Queue, "work");
        withWidgets = new PostgreSqlQueue(databases.Widgets, "work");
    }

    public TestDatabases Databases { get; }

    public static async Task<BareBench> CreateAsync(string? server = null)
    {
        var bench = new BareBench(await TestDatabases.CreateAsync(server));
        await bench.apart.CreateAsync(CancellationToken.None);
        await bench.withWidgets.CreateAsync(CancellationToken.None);
        return bench;
    }

    public IHost Build(
        TransactionMode mode, Work work, string? data = null, string? queue = null, Action<BareEndpointBuilder>? configure = null,
        Action<IServiceCollection>? services = null)
    {
        var host = Host.CreateEmptyApplicationBuilder(settings: null);
        host.Services.AddSingleton(work).AddBareEndpoint("work", endpoint =>
        {
            // A search sends again what a worker of a busy machine has not sent by then.
            endpoint.OutboxSchedule = OutboxSchedule.Default with { Grace = Outbox.OutboxBench.Patient.Grace };
            endpoint
                .UsePostgreSql(queue ?? Databases.QueueOf(mode), data ?? Databases.Widgets)
                .UseTransactionMode(mode)
                .LimitConcurrency(1)
                .PauseAfterOutage(TimeSpan.FromMilliseconds(100))
                .Handle<Todo, TodoHandler>();
            configure?.Invoke(endpoint);
        });
        services?.Invoke(host.Services);
        return host.Build();
    }

    /// <summary>Why the endpoint refuses to start. It must.</summary>
    public async Task<string> RefusalOfAsync(TransactionMode mode, Action<BareEndpointBuilder>? configure = null)
    {
        using var host = Build(mode, (_, _) => Task.CompletedTask, configure: configure);
        return (await Assert.ThrowsAsync<InvalidOperationException>(() => host.StartAsync()))!.Message;
    }

    /// <summary>A handler's work: one row, on the connection that it is lent.</summary>
    public static Task InsertRowAsync(MessageContext context, CancellationToken cancellationToken) =>
        ExecuteAsync(context, $"INSERT INTO widget (id, message_id) VALUES ({context.Attempt}, '{context.MessageId}')", cancellationToken);

    /// <summary>Executes a statement on the connection that a handler is lent.</summary>
    public static async Task ExecuteAsync(MessageContext context, string statement, CancellationToken cancellationToken)
    {
        await using var command = (await context.GetConnectionAsync(cancellationToken)).CreateCommand();
        command.CommandText = statement;
        await command.ExecuteNonQueryAsync(cancellationToken);
    }

    /// <summary>The same with another id each time.</summary>
    public static async Task InsertWidgetAsync(MessageContext context, CancellationToken cancellationToken)
    {
        var (connection, transaction) = (await context.GetConnectionAsync(cancellationToken), await context.GetTransactionAsync(cancellationToken));
        await new AdoInsert().InsertAsync(connection, transaction, new Widget(WidgetId.Next(), context.MessageId), cancellationToken);
    }

    /// <summary>Lets the endpoint handle one message to its end, and gives the errors.</summary>
    public Task<IReadOnlyList<DeadLetter>> HandleAsync(TransactionMode mode, Work work, Action<BareEndpointBuilder>? configure = null) =>
        HandleAsync(mode, Guid.CreateVersion7(), work, configure);

    /// <summary>The same for a message of that id.</summary>
    public async Task<IReadOnlyList<DeadLetter>> HandleAsync(TransactionMode mode, Guid messageId, Work work, Action<BareEndpointBuilder>? configure = null)
    {
        var queue = QueueOf(mode);
        await queue.EnqueueAsync([OutgoingMessage.Create("work", new Todo(), messageId)], CancellationToken.None);
        using var host = Build(mode, work, configure: configure);
        await host.StartAsync();
        await Eventually.HoldsAsync(async () => await queue.CountAsync(CancellationToken.None) == 0, "the queue is empty");
        await host.StopAsync();
        return await queue.ReadErrorsAsync(CancellationToken.None);
    }

    /// <summary>Starts and stops the endpoint without a message: what recovery finds at a start, it ends.</summary>
    public async Task RestartAsync(TransactionMode mode)
    {
        using var host = Build(mode, (_, _) => Task.CompletedTask);
        await host.StartAsync();
        await host.StopAsync();
    }

    public async ValueTask DisposeAsync()
    {
        await apart.DisposeAsync();
        await withWidgets.DisposeAsync();
        await Databases.DisposeAsync();
    }

    public PostgreSqlQueue QueueOf(TransactionMode mode) => mode.NeedsOneDatabase ? withWidgets : apart;

    internal sealed record Todo;

    private sealed class TodoHandler(Work work) : IMessageHandler<Todo>
    {
        public Task HandleAsync(Todo message, MessageContext context, CancellationToken cancellationToken) => work(context, cancellationToken);
    }
}
