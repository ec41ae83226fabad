using Kit.Endpoints.Bare;
using Kit.Endpoints.Cells;
using Kit.Handlers;
using Kit.Modes;
using Microsoft.Extensions.DependencyInjection;
using Microsoft.Extensions.Hosting;
using Npgsql;
using NServiceBus;

namespace Kit.Tests.NServiceBus;

/// <summary>Handlers in <c>shared</c> that do not keep to its rules.</summary>
public sealed class HandlerLeavesTheReceiveAlone
{
    private TestDatabases databases = null!;
    private IMessageQueue queue = null!;

    [SetUp]
    public async Task SetUp()
    {
        databases = await TestDatabases.CreateAsync();
        queue = new NServiceBusOnPostgreSql().OpenQueue("alone", databases.Widgets);
        await queue.CreateAsync(CancellationToken.None);
        await queue.PreloadAsync([new BuildWidget(Guid.CreateVersion7())], CancellationToken.None);
    }

    [TearDown]
    public async Task TearDown()
    {
        await queue.DisposeAsync();
        await databases.DisposeAsync();
    }

    /// <summary>As in <c>scope-off</c>; the mode is not weaker than its name without a word.</summary>
    [Test]
    public async Task On_a_connection_of_its_own_its_message_is_given_up_and_what_it_wrote_stays()
    {
        using var host = await StartAsync(endpoint => endpoint.AddHandler<OnItsOwn>());

        await Eventually.HoldsAsync(async () => (await queue.ReadErrorsAsync(CancellationToken.None)).Count > 0, "the message is given up");

        await host.StopAsync();
        Assert.That((await queue.ReadErrorsAsync(CancellationToken.None)).Single().Reason, Does.Contain("OnItsOwn did not take the receive's transaction"));
        Assert.That(await databases.CountRowsAsync(), Is.EqualTo(TransactionMode.Shared.Attempts));
    }

    /// <summary>The driver takes the roll-back that answers its commit for success (npgsql issue 6641), and the message would come again without end.</summary>
    [Test]
    public async Task With_a_swallowed_error_and_no_send_its_message_is_given_up_and_nothing_stays()
    {
        var attempts = new Attempts();
        using var host = await StartAsync(endpoint => endpoint.AddHandler<Swallows>(), attempts);

        await Eventually.HoldsAsync(async () => (await queue.ReadErrorsAsync(CancellationToken.None)).Count > 0, "the message is given up");

        await host.StopAsync();
        Assert.That(attempts.Made, Is.EqualTo(TransactionMode.Shared.Attempts));
        Assert.That(await queue.CountAsync(CancellationToken.None), Is.Zero);
        Assert.That(await databases.CountRowsAsync(), Is.Zero);
    }

    /// <summary>The dispatch of what it sent is the next command of the failed transaction, and its failure must not be counted a second time.</summary>
    [Test]
    public async Task With_a_swallowed_error_and_a_send_it_has_every_attempt_and_the_reason_names_the_error()
    {
        var attempts = new Attempts();
        using var host = await StartAsync(endpoint => endpoint.AddHandler<SwallowsAndSends>(), attempts);

        await Eventually.HoldsAsync(async () => (await queue.ReadErrorsAsync(CancellationToken.None)).Count > 0, "the message is given up");

        await host.StopAsync();
        Assert.That(
            (await queue.ReadErrorsAsync(CancellationToken.None)).Single().Reason,
            Does.Contain("SwallowsAndSends left its transaction failed"));
        Assert.That(attempts.Made, Is.EqualTo(TransactionMode.Shared.Attempts));
        Assert.That(await queue.CountAsync(CancellationToken.None), Is.Zero, "what it sent is rolled back");
        Assert.That(await databases.CountRowsAsync(), Is.Zero);
    }

    [Test]
    public async Task With_a_commit_of_its_own_it_takes_the_message_out_of_the_queue()
    {
        var attempts = new Attempts();
        using var host = await StartAsync(endpoint => endpoint.AddHandler<Commits>(), attempts);

        await Eventually.HoldsAsync(async () => attempts.Made > 0 && await queue.CountAsync(CancellationToken.None) == 0, "the message is gone");

        await host.StopAsync();
        Assert.That(attempts.Made, Is.EqualTo(1), "with what it committed the message left the queue");
        Assert.That(await databases.CountRowsAsync(), Is.EqualTo(1));
    }

    private async Task<IHost> StartAsync(Action<EndpointConfiguration> addHandler, Attempts? attempts = null)
    {
        var application = Host.CreateEmptyApplicationBuilder(settings: null);
        application.Services.AddSingleton(_ => NpgsqlDataSource.Create(databases.Widgets));
        application.Services.AddSingleton(attempts ?? new Attempts());
        var endpoint = TestEndpoint.Configure("alone", new PostgreSqlTransport(databases.Widgets), TransactionMode.Shared);
        addHandler(endpoint);
        application.Services.AddNServiceBusEndpoint(endpoint);
        var host = application.Build();
        await host.StartAsync();
        return host;
    }

    internal sealed class Attempts
    {
        private int made;

        public int Made => Volatile.Read(ref made);

        public void Add() => Interlocked.Increment(ref made);
    }

    // Not private: NServiceBus generates code that names them.
    internal sealed class OnItsOwn(NpgsqlDataSource data) : IHandleMessages<BuildWidget>
    {
        public async Task Handle(BuildWidget message, IMessageHandlerContext context)
        {
            await using var insert = data.CreateCommand(InsertOf(message));
            await insert.ExecuteNonQueryAsync(context.CancellationToken);
        }
    }

    internal sealed class Commits(Attempts attempts) : IHandleMessages<BuildWidget>
    {
        public Task Handle(BuildWidget message, IMessageHandlerContext context)
        {
            attempts.Add();
            return InsertWithTheReceiveAsync(message, context, and: "COMMIT");
        }
    }

    internal sealed class Swallows(Attempts attempts) : IHandleMessages<BuildWidget>
    {
        public async Task Handle(BuildWidget message, IMessageHandlerContext context)
        {
            attempts.Add();
            try
            {
                await InsertWithTheReceiveAsync(message, context, and: "SELECT 1 / 0");
            }
            catch (PostgresException)
            {
                // Swallowed: the transaction has failed.
            }
        }
    }

    internal sealed class SwallowsAndSends(Attempts attempts) : IHandleMessages<BuildWidget>
    {
        public async Task Handle(BuildWidget message, IMessageHandlerContext context)
        {
            await new Swallows(attempts).Handle(message, context);
            await context.SendLocal(new BuildWidget(Guid.CreateVersion7()));
        }
    }

    private static string InsertOf(BuildWidget message) => $"INSERT INTO widget (id, message_id) VALUES ({WidgetId.Next()}, '{message.MessageId}')";

    private static async Task InsertWithTheReceiveAsync(BuildWidget message, IMessageHandlerContext context, string and)
    {
        await using var command = context.GetReceiveTransaction().Connection!.CreateCommand();
        command.CommandText = $"{InsertOf(message)}; {and}";
        await command.ExecuteNonQueryAsync(context.CancellationToken);
    }
}
