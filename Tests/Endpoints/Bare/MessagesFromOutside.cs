using System.Transactions;
using Kit.Endpoints.Bare;
using Kit.Endpoints.Bare.PostgreSql;
using Kit.Endpoints.Bare.RabbitMq;
using Kit.Runner.Servers;
using Microsoft.Extensions.DependencyInjection;
using Npgsql;

namespace Kit.Tests.Bare;

/// <summary>Messages that a web request or a timer sends, without a handler around it.</summary>
[Parallelizable]
public sealed class MessagesFromOutside
{
    private TestDatabases databases = null!;
    private PostgreSqlQueue queue = null!;
    private ServiceProvider services = null!;

    private IMessageSender Sender => services.GetRequiredService<IMessageSender>();

    [SetUp]
    public async Task SetUp()
    {
        databases = await TestDatabases.CreateAsync();
        queue = new PostgreSqlQueue(databases.Queue, "work");
        await queue.CreateAsync(CancellationToken.None);
        services = new ServiceCollection().AddPostgreSqlMessageSender(databases.Queue).BuildServiceProvider();
    }

    [TearDown]
    public async Task TearDown()
    {
        await services.DisposeAsync();
        await queue.DisposeAsync();
        await databases.DisposeAsync();
    }

    [Test]
    public async Task A_message_is_in_its_queue_with_its_id_and_headers()
    {
        var id = Guid.CreateVersion7();

        await Sender.SendAsync("work", "an order", messageId: id, headers: new Dictionary<string, string> { ["tenant"] = "7" });

        Assert.That(await queue.ReadMessagesAsync(CancellationToken.None), Is.EqualTo(new[] { id }));
        const string withHeaders = "SELECT count(*)::int FROM work WHERE headers::jsonb = '{\"tenant\": \"7\"}'";
        Assert.That(await TestDatabases.ScalarAsync(databases.Queue, withHeaders), Is.EqualTo(1));
    }

    [TestCase(true)]
    [TestCase(false)]
    public async Task In_the_callers_transaction_it_is_sent_when_that_commits(bool commits)
    {
        await using var connection = new NpgsqlConnection(databases.Queue);
        await connection.OpenAsync();
        await using var transaction = await connection.BeginTransactionAsync();

        await Sender.SendAsync("work", "an order", transaction);
        Assert.That(await queue.CountAsync(CancellationToken.None), Is.Zero);
        await (commits ? transaction.CommitAsync() : transaction.RollbackAsync());

        Assert.That(await queue.CountAsync(CancellationToken.None), Is.EqualTo(commits ? 1 : 0));
    }

    [Test]
    public async Task It_needs_no_second_connection_of_the_applications_pool()
    {
        await using var pool = NpgsqlDataSource.Create(databases.Queue + ";Maximum Pool Size=1");
        await using var sending = new ServiceCollection().AddPostgreSqlMessageSender(_ => pool).BuildServiceProvider();
        await using var connection = await pool.OpenConnectionAsync();
        await using var transaction = await connection.BeginTransactionAsync();
        await using var change = new NpgsqlCommand("CREATE SCHEMA other; CREATE TABLE other.work (LIKE public.work); SET search_path TO other", connection);
        await change.ExecuteNonQueryAsync();

        await sending.GetRequiredService<IMessageSender>().SendAsync("work", "an order", transaction);
        await transaction.CommitAsync();

        Assert.That(await queue.CountAsync(CancellationToken.None), Is.EqualTo(1));
        await using var path = new NpgsqlCommand("SHOW search_path", connection);
        Assert.That(await path.ExecuteScalarAsync(), Is.EqualTo("other"));
    }

    /// <summary>A table of the same name that the caller's search path finds first is another's.</summary>
    [TestCase("SET search_path TO other")]
    [TestCase("CREATE TEMP TABLE work (LIKE public.work INCLUDING ALL)")]
    public async Task The_callers_search_path_does_not_say_where_the_queue_is_and_stays_as_it_was(string before)
    {
        await TestDatabases.ExecuteAsync(databases.Queue, "CREATE SCHEMA other; CREATE TABLE other.work (LIKE work INCLUDING ALL)");
        await using var connection = new NpgsqlConnection(databases.Queue);
        await connection.OpenAsync();
        await using var transaction = await connection.BeginTransactionAsync();
        var path = await ReadPathAsync(before);

        await Sender.SendAsync("work", "an order", transaction);
        var after = await ReadPathAsync("");
        await transaction.CommitAsync();

        Assert.That(await queue.CountAsync(CancellationToken.None), Is.EqualTo(1));
        Assert.That((after, await ReadPathAsync("")), Is.EqualTo((path, path)));

        async Task<string> ReadPathAsync(string first)
        {
            await using var command = new NpgsqlCommand($"{first}; SHOW search_path", connection);
            return (string)(await command.ExecuteScalarAsync())!;
        }
    }

    [Test]
    public async Task A_caller_with_a_role_that_may_not_send_is_told_and_nothing_is_sent()
    {
        await TestDatabases.ExecuteAsync(databases.Queue, "CREATE TABLE widget ()");
        await using var roles = await TwoPhase.TwoRoles.CreateAsync(databases.Queue);
        await using var connection = new NpgsqlConnection(databases.Queue);
        await connection.OpenAsync();
        await using var transaction = await connection.BeginTransactionAsync();
        await using (var change = new NpgsqlCommand($"SET LOCAL ROLE {roles.NameBefore}", connection))
            await change.ExecuteNonQueryAsync();

        var refused = await Assert.ThrowsAsync<PostgresException>(async () => await Sender.SendAsync("work", "an order", transaction));
        await transaction.RollbackAsync();

        Assert.That(refused!.SqlState, Is.EqualTo(PostgresErrorCodes.InsufficientPrivilege));
        Assert.That(await queue.CountAsync(CancellationToken.None), Is.Zero);
    }

    [Test]
    public async Task A_transaction_of_another_database_is_refused()
    {
        await using var elsewhere = new PostgreSqlQueue(databases.Widgets, "work");
        await elsewhere.CreateAsync(CancellationToken.None);
        await using var connection = new NpgsqlConnection(databases.Widgets);
        await connection.OpenAsync();
        await using var transaction = await connection.BeginTransactionAsync();

        Assert.That(
            (await Assert.ThrowsAsync<NotSupportedException>(async () => await Sender.SendAsync("work", "an order", transaction)))!.Message,
            Does.Contain("is in database").And.Contain("_widgets' at ").And.Contain("but the queues are in").And.Contain("send from a handler"));
        await transaction.CommitAsync();
        Assert.That(await elsewhere.CountAsync(CancellationToken.None), Is.Zero);
    }

    [Test]
    public async Task A_transaction_of_a_database_with_the_same_name_on_another_server_is_refused()
    {
        PostgreSqlServer.IgnoreWithoutPrograms();
        await using var server = await PrivatePostgreSql.StartAsync(CancellationToken.None);
        var name = new NpgsqlConnectionStringBuilder(databases.Queue).Database!;
        await TestDatabases.ExecuteAsync(server.ConnectionString, $"CREATE DATABASE {name}");
        var same = new NpgsqlConnectionStringBuilder(server.ConnectionString) { Database = name, Pooling = false }.ConnectionString;
        await using var elsewhere = new PostgreSqlQueue(same, "work");
        await elsewhere.CreateAsync(CancellationToken.None);
        await using var connection = new NpgsqlConnection(same);
        await connection.OpenAsync();
        await using var transaction = await connection.BeginTransactionAsync();

        await Assert.ThrowsAsync<NotSupportedException>(async () => await Sender.SendAsync("work", "an order", transaction));
        await transaction.CommitAsync();
        Assert.That(await elsewhere.CountAsync(CancellationToken.None), Is.Zero);
    }

    [Test]
    public async Task A_transaction_that_reaches_the_queues_under_another_name_sends()
    {
        var own = new NpgsqlConnectionStringBuilder(databases.Queue);
        await using var connection = new NpgsqlConnection(
            new NpgsqlConnectionStringBuilder(databases.Queue) { Host = own.Host == "localhost" ? "127.0.0.1" : "localhost" }.ConnectionString);
        await connection.OpenAsync();
        await using var transaction = await connection.BeginTransactionAsync();

        await Sender.SendAsync("work", "an order", transaction);
        await transaction.CommitAsync();

        Assert.That(await queue.CountAsync(CancellationToken.None), Is.EqualTo(1));
    }

    [Test]
    public async Task A_transaction_that_has_ended_is_refused()
    {
        await using var connection = new NpgsqlConnection(databases.Queue);
        await connection.OpenAsync();
        await using var transaction = await connection.BeginTransactionAsync();
        await transaction.CommitAsync();

        await Assert.ThrowsAsync<InvalidOperationException>(async () => await Sender.SendAsync("work", "an order", transaction));
        Assert.That(await queue.CountAsync(CancellationToken.None), Is.Zero);
    }

    [Test]
    public async Task An_ambient_transaction_that_it_would_not_belong_to_is_refused()
    {
        using (new TransactionScope(TransactionScopeAsyncFlowOption.Enabled))
        {
            Assert.That(
                (await Assert.ThrowsAsync<InvalidOperationException>(() => Sender.SendAsync("work", "an order")))!.Message,
                Does.StartWith("There is an ambient transaction"));
            using var suppressed = new TransactionScope(TransactionScopeOption.Suppress, TransactionScopeAsyncFlowOption.Enabled);
            await Sender.SendAsync("work", "an order");
        }

        Assert.That(await queue.CountAsync(CancellationToken.None), Is.EqualTo(1));
    }

    [Test]
    public void A_second_sender_is_refused() => Assert.That(
        () => new ServiceCollection().AddPostgreSqlMessageSender(databases.Queue).AddRabbitMqMessageSender("amqp://localhost"),
        Throws.InvalidOperationException.With.Message.StartsWith("There is already an IMessageSender"));

    [Test]
    public async Task A_queue_that_is_not_there_is_an_error() =>
        Assert.That(
            (await Assert.ThrowsAsync<InvalidOperationException>(() => Sender.SendAsync("nowhere", "an order")))!.Message,
            Does.StartWith("There is no queue 'nowhere' in database '").And.Contain("creates it when it starts"));

    [Test]
    public async Task On_RabbitMQ_it_is_confirmed_and_takes_part_in_no_transaction()
    {
        await using var host = await TestVirtualHost.CreateAsync();
        await using var there = new RabbitMqQueue(RabbitMqAddress.Parse(host.Address), "work");
        await there.CreateAsync(CancellationToken.None);
        await using var provider = new ServiceCollection().AddRabbitMqMessageSender(host.Address).BuildServiceProvider();
        var sender = provider.GetRequiredService<IMessageSender>();
        await using var connection = new NpgsqlConnection(databases.Queue);
        await connection.OpenAsync();
        await using var transaction = await connection.BeginTransactionAsync();

        await Task.WhenAll(Enumerable.Range(0, 50).Select(_ => sender.SendAsync("work", "an order")));

        Assert.That(await there.CountAsync(CancellationToken.None), Is.EqualTo(50));
        await Assert.ThrowsAsync<BrokerException>(() => sender.SendAsync("nowhere", "an order"));
        await Assert.ThrowsAsync<NotSupportedException>(async () => await sender.SendAsync("work", "an order", transaction));
    }
}
