using Kit.Endpoints.Bare;
using Kit.Endpoints.Bare.RabbitMq;
using Kit.Modes;
using Kit.Tests.Bare;
using Microsoft.Extensions.DependencyInjection;
using Microsoft.Extensions.Hosting;
using Microsoft.Extensions.Logging;
using RabbitMQ.Client;

namespace Kit.Tests.RabbitMq;

/// <summary>A bare endpoint on RabbitMQ with a handler that does what a test says, and a client without the kit that fills its queue.</summary>
internal sealed class RabbitMqBench : IAsyncDisposable
{
    public const string Endpoint = "work";

    private readonly TestDatabases databases;
    private readonly TestVirtualHost host;

    private RabbitMqBench(TestDatabases databases, TestVirtualHost host)
    {
        this.databases = databases;
        this.host = host;
        Address = RabbitMqAddress.Parse(host.Address);
        Queue = new RabbitMqQueue(Address, Endpoint);
    }

    public RabbitMqAddress Address { get; }

    public RabbitMqQueue Queue { get; }

    public TestVirtualHost Host => host;

    public string Widgets => databases.Widgets;

    /// <summary>What the endpoints logged as a warning or worse.</summary>
    public WarningsOfAHost Warnings { get; } = new();

    /// <summary>The modes that RabbitMQ has.</summary>
    public static IEnumerable<TransactionMode> Modes => TransactionMode.All.Where(mode => RabbitMqSupport.Of(mode).IsSupported);

    /// <summary>Those whose broker keeps a message until it was handled.</summary>
    public static IEnumerable<TransactionMode> Acknowledging => Modes.Where(mode => mode != TransactionMode.TransactionsOff);

    /// <param name="broker">The broker; the tests' own when not given.</param>
    public static async Task<RabbitMqBench> CreateAsync(RabbitMqAddress? broker = null)
    {
        var bench = new RabbitMqBench(await TestDatabases.CreateAsync(), await TestVirtualHost.CreateAsync(broker));
        await bench.Queue.CreateAsync(CancellationToken.None);
        return bench;
    }

    /// <summary>The properties of a message that the endpoint's handler handles.</summary>
    public static BasicProperties Properties(Guid? id = null) =>
        new() { MessageId = $"{id ?? Guid.CreateVersion7()}", Type = typeof(Todo).FullName };

    public IHost Build(TransactionMode mode, Work work, int concurrency = 1, Action<BareEndpointBuilder>? configure = null)
    {
        var builder = Microsoft.Extensions.Hosting.Host.CreateEmptyApplicationBuilder(settings: null);
        builder.Logging.AddProvider(Warnings);
        builder.Services.AddSingleton(work).AddBareEndpoint(Endpoint, endpoint =>
        {
            endpoint.OutboxSchedule = Outbox.OutboxBench.Patient;
            endpoint
                .UseRabbitMq(host.Address, databases.Widgets)
                .UseTransactionMode(mode)
                .LimitConcurrency(concurrency)
                .PauseAfterOutage(TimeSpan.FromMilliseconds(100))
                .Handle<Todo, TodoHandler>();
            configure?.Invoke(endpoint);
        });
        return builder.Build();
    }

    /// <summary>Lets the endpoint handle what is in its queue, to the end.</summary>
    public async Task HandleAsync(TransactionMode mode, Work work)
    {
        using var endpoint = Build(mode, work);
        await endpoint.StartAsync();
        await Eventually.HoldsAsync(async () => await Queue.CountAsync(CancellationToken.None) == 0, $"the queue is empty: {Warnings}");
        await endpoint.StopAsync();
    }

    /// <summary>Publishes without the kit.</summary>
    /// <param name="queue">The queue.</param>
    /// <param name="properties">All that the message has.</param>
    /// <param name="body">Its body; that of a message that can be read, when not given.</param>
    /// <param name="user">Who publishes: a user whom this creates; the tests' own when not given.</param>
    public async Task PublishAsync(string queue, BasicProperties properties, ReadOnlyMemory<byte>? body = null, string? user = null)
    {
        var address = user is null ? Address : RabbitMqAddress.Parse(await host.AddUserAsync(user));
        await using var connection = await address.ConnectAsync("sender", timeout: null, CancellationToken.None);
        await using var channel = await connection.CreateChannelAsync(
            new CreateChannelOptions(publisherConfirmationsEnabled: true, publisherConfirmationTrackingEnabled: true));
        await channel.BasicPublishAsync("", queue, mandatory: true, properties, body ?? "{}"u8.ToArray());
    }

    /// <summary>Does something on a channel of its own.</summary>
    public async Task<T> OnChannelAsync<T>(Func<IChannel, Task<T>> work)
    {
        await using var connection = await Address.ConnectAsync("test", timeout: null, CancellationToken.None);
        await using var channel = await connection.CreateChannelAsync();
        return await work(channel);
    }

    public Task CreateQueueAsync(string name) => OnChannelAsync(channel => channel.QueueDeclareAsync(name, durable: true, exclusive: false, autoDelete: false));

    /// <summary>The ready messages of any queue.</summary>
    public async Task<uint> CountAsync(string queue) => (await OnChannelAsync(channel => channel.QueueDeclarePassiveAsync(queue))).MessageCount;

    public async ValueTask DisposeAsync()
    {
        await Queue.DisposeAsync();
        await databases.DisposeAsync();
        await host.DisposeAsync();
    }

    internal sealed record Todo;

    private sealed class TodoHandler(Work work) : IMessageHandler<Todo>
    {
        public Task HandleAsync(Todo message, MessageContext context, CancellationToken cancellationToken) => work(context, cancellationToken);
    }
}
