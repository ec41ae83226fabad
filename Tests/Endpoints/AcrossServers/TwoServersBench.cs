using Kit.Endpoints.Bare;
using Kit.Endpoints.Bare.PostgreSql;
using Kit.Modes;
using Kit.Runner.Servers;
using Kit.Tests.Bare;
using Kit.Tests.TwoPhase;
using Microsoft.Extensions.DependencyInjection;
using Microsoft.Extensions.Hosting;
using Microsoft.Extensions.Logging;
using Npgsql;

namespace Kit.Tests.AcrossServers;

/// <summary>A queue on one server of the test's own, and rows on another. The handler inserts a row and sends a message.</summary>
internal sealed class TwoServersBench : IAsyncDisposable
{
    public const string Name = "work";
    public const string Sink = "sink";

    private readonly List<IHost> hosts = [];
    private readonly WarningsOfAHost log = new();

    private TwoServersBench(TestDatabases queues, TestDatabases data)
    {
        (Queues, Data) = (queues, data);
        Queue = new PostgreSqlQueue(QueueConnection, Name);
    }

    /// <summary>The databases on the queue's server.</summary>
    public TestDatabases Queues { get; }

    /// <summary>The databases on the handlers' server.</summary>
    public TestDatabases Data { get; }

    public PostgreSqlQueue Queue { get; }

    public string QueueConnection => Queues.Queue;

    public string DataConnection => Data.Widgets;

    public IReadOnlyCollection<string> Log => log.Lines;

    public static async Task<TwoServersBench> CreateAsync(PrivatePostgreSql queues, PrivatePostgreSql data)
    {
        var bench = new TwoServersBench(await TestDatabases.CreateAsync(queues), await TestDatabases.CreateAsync(data));
        await bench.Queue.CreateAsync(CancellationToken.None);
        await using var sink = new PostgreSqlQueue(bench.QueueConnection, Sink);
        await sink.CreateAsync(CancellationToken.None);
        return bench;
    }

    public static async Task InsertAndSendAsync(MessageContext context, CancellationToken cancellationToken)
    {
        await TwoPhaseBench.InsertAsync(context, cancellationToken);
        await context.SendAsync(Sink, $"{context.MessageId}", cancellationToken: cancellationToken);
    }

    public async Task<IReadOnlyList<Guid>> EnqueueAsync(int count)
    {
        var messages = Enumerable.Range(0, count).Select(_ => Guid.CreateVersion7()).ToList();
        await Queue.EnqueueAsync(messages.Select(id => OutgoingMessage.Create(Name, new Todo(), id)), CancellationToken.None);
        return messages;
    }

    /// <summary>Starts one more endpoint on the queue.</summary>
    /// <param name="work">What its handler does; by default it inserts and sends.</param>
    /// <param name="queue">How it reaches its queue, if otherwise.</param>
    /// <param name="data">How its handlers reach their data, if otherwise.</param>
    /// <param name="configure">More settings.</param>
    public async Task StartAsync(
        Work? work = null, string? queue = null, string? data = null, Action<BareEndpointBuilder>? configure = null)
    {
        var builder = Host.CreateEmptyApplicationBuilder(settings: null);
        builder.Logging.AddProvider(log);
        builder.Services.AddSingleton(work ?? InsertAndSendAsync).AddBareEndpoint(Name, endpoint =>
        {
            endpoint
                .UsePostgreSql(queue ?? QueueConnection, data ?? DataConnection)
                .UseTransactionMode(TransactionMode.FullDtc)
                .LimitConcurrency(2)
                .PauseAfterOutage(TimeSpan.FromMilliseconds(50))
                .Handle<Todo, TodoHandler>();
            configure?.Invoke(endpoint);
        });
        var host = builder.Build();
        hosts.Add(host);
        await host.StartAsync();
    }

    public Task DrainedAsync() => Eventually.HoldsAsync(
        async () => await Queue.CountAsync(CancellationToken.None) == 0 && await Data.CountPreparedAsync() == 0, "the queue is empty and nothing is prepared");

    /// <summary>Each message has exactly one row and one send, and nothing was given up.</summary>
    public async Task HasExactlyOneEffectOfEachAsync(IReadOnlyCollection<Guid> messages)
    {
        var rows = await Data.ReadRowsByMessageAsync();
        var sends = await ReadSendsAsync();
        using (Assert.EnterMultipleScope())
        {
            Assert.That(messages.Where(message => !rows.ContainsKey(message)), Is.Empty, "lost rows");
            Assert.That(rows.Where(row => row.Value > 1), Is.Empty, "doubled rows");
            Assert.That(rows, Has.Count.EqualTo(messages.Count));
            Assert.That(sends, Is.EquivalentTo(messages), "sends");
            Assert.That(await Queue.ReadErrorsAsync(CancellationToken.None), Is.Empty);
            Assert.That(await Data.CountPreparedAsync(), Is.Zero, "prepared");
        }
    }

    public Task<int> CountWorkersAsync() => TestDatabases.ScalarAsync(QueueConnection, "SELECT count(*)::int FROM kit_worker");

    public Task<int> CountSendsAsync() => TestDatabases.ScalarAsync(QueueConnection, $"SELECT count(*)::int FROM {Sink}");

    public async Task StopAsync()
    {
        foreach (var host in hosts)
        {
            await host.StopAsync();
            await ((IAsyncDisposable)host).DisposeAsync();
        }

        hosts.Clear();
    }

    public async ValueTask DisposeAsync()
    {
        await StopAsync();
        await Queue.DisposeAsync();
        log.Dispose();
        await Data.RollBackPreparedAsync();
        await Queues.DisposeAsync();
        await Data.DisposeAsync();
    }

    private async Task<IReadOnlyList<Guid>> ReadSendsAsync()
    {
        await using var source = NpgsqlDataSource.Create(Unpooled(QueueConnection));
        await using var command = source.CreateCommand($"SELECT convert_from(body, 'UTF8') FROM {Sink}");
        await using var reader = await command.ExecuteReaderAsync();
        var sends = new List<Guid>();
        while (await reader.ReadAsync())
            sends.Add(Guid.Parse(reader.GetString(0).Trim('"')));

        return sends;
    }

    private static string Unpooled(string connectionString) => new NpgsqlConnectionStringBuilder(connectionString) { Pooling = false }.ConnectionString;

    private sealed record Todo;

    private sealed class TodoHandler(Work work) : IMessageHandler<Todo>
    {
        public Task HandleAsync(Todo message, MessageContext context, CancellationToken cancellationToken) => work(context, cancellationToken);
    }
}
