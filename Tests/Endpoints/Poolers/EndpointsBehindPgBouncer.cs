using Kit.Endpoints.Bare;
using Kit.Modes;
using Kit.Tests.Bare;
using Microsoft.Extensions.DependencyInjection;
using Microsoft.Extensions.Hosting;
using Npgsql;

namespace Kit.Tests.Poolers;

/// <summary>A pooler that lends a connection for a transaction or a statement is refused, one that lends it for a session is not.</summary>
[Parallelizable]
public sealed class EndpointsBehindPgBouncer
{
    private TestDatabases databases = null!;

    [SetUp]
    public async Task SetUp() => databases = await TestDatabases.CreateAsync();

    [TearDown]
    public async Task TearDown() => await databases.DisposeAsync();

    [ModeSource(typeof(BareBench), nameof(BareBench.Modes))]
    public async Task Transaction_pooling_is_refused(TransactionMode mode)
    {
        await using var bouncer = await StartAsync("transaction");
        await using var endpoints = await TwoEndpoints.CreateAsync(databases);

        await Assert.ThatAsync(
            () => endpoints.StartAsync(mode, bouncer),
            Throws.InvalidOperationException.With.Message.Contains("transaction pooling").And.Message.Contains("session pooling"));
    }

    [Test]
    public async Task Statement_pooling_is_refused()
    {
        await using var bouncer = await StartAsync("statement");
        await using var endpoints = await TwoEndpoints.CreateAsync(databases);

        await Assert.ThatAsync(
            () => endpoints.StartAsync(TransactionMode.DtcOff, bouncer),
            Throws.InvalidOperationException.With.Message.Contains("statement pooling").And.Message.Contains("session pooling"));
    }

    [Test]
    public async Task Transaction_pooling_of_the_handlers_database_alone_is_refused()
    {
        await using var bouncer = await StartAsync("transaction");
        await using var bench = await BareBench.CreateAsync();
        using var host = bench.Build(TransactionMode.DtcOff, (_, _) => Task.CompletedTask, bouncer.ConnectionTo(bench.Databases.Widgets));

        await Assert.ThatAsync(() => host.StartAsync(), Throws.InvalidOperationException.With.Message.Contains("transaction pooling"));
    }

    [TestCase("transaction")]
    [TestCase("session")]
    public async Task Of_several_hosts_the_one_that_answers_is_asked_how_it_pools(string pooling)
    {
        await using var bouncer = await StartAsync(pooling);
        await using var bench = await BareBench.CreateAsync();
        var behind = new NpgsqlConnectionStringBuilder(bouncer.ConnectionTo(bench.Databases.Widgets)) { TargetSessionAttributes = "primary" };
        behind.Host = $"127.0.0.1:9,{behind.Host}:{behind.Port}";
        using var host = bench.Build(TransactionMode.Shared, (_, _) => Task.CompletedTask, behind.ConnectionString, behind.ConnectionString);

        if (pooling == "session")
        {
            await host.StartAsync();
            await host.StopAsync();
        }
        else
        {
            await Assert.ThatAsync(() => host.StartAsync(), Throws.InvalidOperationException.With.Message.Contains("transaction pooling"));
        }
    }

    [Test]
    public async Task Transaction_pooling_of_the_handlers_database_is_refused_on_RabbitMQ_before_a_broker_is_asked()
    {
        await using var bouncer = await StartAsync("transaction");
        var host = Host.CreateEmptyApplicationBuilder(settings: null);
        host.Services.AddBareEndpoint("work", endpoint => endpoint
            .UseRabbitMq("amqp://127.0.0.1:9/", bouncer.ConnectionTo(databases.Widgets))
            .UseTransactionMode(TransactionMode.DtcOff)
            .Handle<Todo, TodoHandler>());
        var built = host.Build();
        await using ((IAsyncDisposable)built)
            await Assert.ThatAsync(() => built.StartAsync(), Throws.InvalidOperationException.With.Message.Contains("transaction pooling"));
    }

    /// <summary>As administrators let it, so that drivers with options connect at all. Every commit would wait, without a word.</summary>
    [Test]
    public async Task A_pooler_that_drops_the_option_of_a_flush_is_refused()
    {
        await using var bouncer = await StartAsync("session", ignoredParameters: "options");
        await using var bench = await BareBench.CreateAsync();
        using var host = bench.Build(
            TransactionMode.Shared, (_, _) => Task.CompletedTask, bouncer.ConnectionTo(bench.Databases.Widgets),
            bouncer.ConnectionTo(bench.Databases.Widgets), endpoint => endpoint.FlushLog(LogFlush.None));

        await Assert.ThatAsync(
            () => host.StartAsync(), Throws.InvalidOperationException.With.Message.Contains("A pooler between them drops the options"));
    }

    [TestCase("dtc-off")]
    [TestCase("shared")]
    [TestCase("full-dtc")]
    [TestCase("transactions-off")]
    public async Task In_session_pooling_each_endpoint_handles_its_own(string mode)
    {
        await using var bouncer = await StartAsync("session");
        await using var endpoints = await TwoEndpoints.CreateAsync(databases);
        await endpoints.EnqueueAsync(toEach: 100);

        await endpoints.StartAsync(TransactionMode.All.Single(known => known.Name == mode), bouncer);

        await Eventually.HoldsAsync(() => endpoints.Own + endpoints.Others == 200, "all messages are handled");
        await endpoints.StopAsync();
        Assert.That(endpoints.Others, Is.Zero, "handled by the other endpoint");
    }

    [TestCase("dtc-off")]
    [TestCase("transactions-off")]
    public async Task When_the_pooler_changes_to_transaction_pooling_no_endpoint_handles_the_others_messages(string mode)
    {
        await using var bouncer = await StartAsync("session");
        await using var endpoints = await TwoEndpoints.CreateAsync(databases);
        await endpoints.StartAsync(TransactionMode.All.Single(known => known.Name == mode), bouncer);
        await endpoints.EnqueueAsync(toEach: 20);
        await Eventually.HoldsAsync(() => endpoints.Own == 40, "all workers have prepared their receive");

        await bouncer.ReloadAsync("transaction");
        await endpoints.EnqueueAsync(toEach: 2_000);
        await Eventually.HoldsAsync(
            () => endpoints.Others > 0 || endpoints.Warnings.Count("a row of another table") > 0, "a receive takes the other's message");
        await endpoints.StopAsync();

        await TestContext.Out.WriteLineAsync($"{mode}: {endpoints.Own} handled by their own endpoint, {endpoints.Others} by the other");
        await TestContext.Out.WriteLineAsync(endpoints.Warnings.ToString());
        Assert.That(endpoints.Others, Is.Zero, "handled by the other endpoint");
        Assert.That(await endpoints.CountLostAsync(), Is.Zero, "lost");
    }

    [Test]
    public async Task A_full_pool_in_session_pooling_is_accepted_with_a_warning()
    {
        await using var bouncer = await StartAsync("session", poolSize: 1);
        using var warnings = new WarningsOfAHost();

        await CheckAsync(bouncer, warnings);

        Assert.That(warnings.Count("enlarge the pool"), Is.EqualTo(1));
    }

    [Test]
    public async Task A_pool_of_one_connection_in_transaction_pooling_is_refused()
    {
        await using var bouncer = await StartAsync("transaction", poolSize: 1);
        using var warnings = new WarningsOfAHost();

        await Assert.ThatAsync(
            () => CheckAsync(bouncer, warnings), Throws.InvalidOperationException.With.Message.Contains("transaction pooling"));
    }

    /// <summary>No client need be given the connection that another one had: the clients have to be moved.</summary>
    [Test]
    public async Task A_pool_of_many_connections_in_transaction_pooling_is_refused([Values] bool isOldestFirst)
    {
        await using var bouncer = await StartAsync("transaction", isOldestFirst: isOldestFirst);
        await FillAsync(bouncer, transactions: 4);
        using var warnings = new WarningsOfAHost();
        await Assert.ThatAsync(
            () => CheckAsync(bouncer, warnings), Throws.InvalidOperationException.With.Message.Contains("transaction pooling"));
    }

    [TestCase("session")]
    [TestCase("transaction")]
    public async Task A_pool_that_others_use_up_is_an_error_that_says_so_in_time(string mode)
    {
        await using var bouncer = await StartAsync(mode, poolSize: 1);
        await using var source = NpgsqlDataSource.Create(bouncer.ConnectionTo(databases.Queue));
        await using var connection = await source.OpenConnectionAsync();
        await using var transaction = await connection.BeginTransactionAsync();
        await using var query = new NpgsqlCommand("SELECT 1", connection, transaction);
        await query.ExecuteScalarAsync();
        using var warnings = new WarningsOfAHost();

        await Assert.ThatAsync(
            () => CheckAsync(bouncer, warnings), Throws.InvalidOperationException.With.Message.Contains("Enlarge its pool"));
    }

    private Task CheckAsync(PrivatePgBouncer bouncer, WarningsOfAHost warnings) =>
        new PoolerCheck("work", warnings) { Patience = TimeSpan.FromSeconds(5) }
            .RequireSessionsAsync(new DatabaseAccess(bouncer.ConnectionTo(databases.Queue)), PoolSizes.Queue, CancellationToken.None);

    /// <summary>Lets the pool open as many connections as transactions are open at one time.</summary>
    private async Task FillAsync(PrivatePgBouncer bouncer, int transactions)
    {
        if (transactions == 0)
            return;

        await using var source = NpgsqlDataSource.Create(bouncer.ConnectionTo(databases.Queue));
        await using var connection = await source.OpenConnectionAsync();
        await using var transaction = await connection.BeginTransactionAsync();
        await using var query = new NpgsqlCommand("SELECT 1", connection, transaction);
        await query.ExecuteScalarAsync();
        await FillAsync(bouncer, transactions - 1);
    }

    private static async Task<PrivatePgBouncer> StartAsync(
        string mode, int poolSize = 20, bool isOldestFirst = false, string ignoredParameters = "") =>
        await PrivatePgBouncer.StartAsync((await PostgreSqlServer.GetAsync()).ConnectionString, mode, poolSize, isOldestFirst, ignoredParameters);

    private sealed record Todo;

    private sealed class TodoHandler : IMessageHandler<Todo>
    {
        public Task HandleAsync(Todo message, MessageContext context, CancellationToken cancellationToken) => Task.CompletedTask;
    }
}
