using Kit.Endpoints.Bare;
using Kit.Endpoints.Cells;
using Kit.Handlers;
using Kit.Modes;
using Microsoft.Extensions.DependencyInjection;
using Microsoft.Extensions.Hosting;
using Npgsql;
using NServiceBus;

namespace Kit.Tests.NServiceBus;

/// <summary><c>dtc-off</c>: a handler that inserts, waits longer than its transaction may last, and inserts again.</summary>
public sealed class HandlerOverrunsItsTransaction
{
    private static readonly TimeSpan TransactionTimeout = TimeSpan.FromSeconds(1);
    private static readonly TimeSpan Overrun = TimeSpan.FromSeconds(3);

    private TestDatabases databases = null!;
    private IMessageQueue queue = null!;

    [SetUp]
    public async Task SetUp()
    {
        databases = await TestDatabases.CreateAsync();
        queue = new NServiceBusOnPostgreSql().OpenQueue("late", databases.Widgets);
        await queue.CreateAsync(CancellationToken.None);
        await queue.PreloadAsync([new BuildWidget(Guid.CreateVersion7())], CancellationToken.None);
    }

    [TearDown]
    public async Task TearDown()
    {
        await queue.DisposeAsync();
        await databases.DisposeAsync();
    }

    [Test]
    public async Task It_leaves_nothing_and_its_message_is_given_up_after_the_modes_attempts()
    {
        var attempts = new Attempts(isLate: _ => true);
        using var host = await StartAsync(attempts);

        await Eventually.HoldsAsync(async () => (await queue.ReadErrorsAsync(CancellationToken.None)).Count > 0, "the message is given up");

        await host.StopAsync();
        using (Assert.EnterMultipleScope())
        {
            Assert.That(await databases.CountRowsAsync(), Is.Zero);
            Assert.That((await queue.ReadErrorsAsync(CancellationToken.None)).Single().Reason, Does.Contain("did not finish within 00:00:01"));
            Assert.That(attempts.Made, Is.EqualTo(TransactionMode.DtcOff.Attempts));
        }
    }

    [Test]
    public async Task Its_next_attempt_commits_when_that_is_in_time()
    {
        using var host = await StartAsync(new Attempts(isLate: attempt => attempt == 1));

        await Eventually.HoldsAsync(async () => await queue.CountAsync(CancellationToken.None) == 0, "the message is handled");

        await host.StopAsync();
        using (Assert.EnterMultipleScope())
        {
            Assert.That(await databases.CountRowsAsync(), Is.EqualTo(2));
            Assert.That(await queue.ReadErrorsAsync(CancellationToken.None), Is.Empty);
        }
    }

    private async Task<IHost> StartAsync(Attempts attempts)
    {
        var application = Host.CreateEmptyApplicationBuilder(settings: null);
        application.Services.AddSingleton(_ => NpgsqlDataSource.Create(databases.Widgets));
        application.Services.AddSingleton(attempts);
        var endpoint = TestEndpoint.Configure("late", new PostgreSqlTransport(databases.Widgets), TransactionMode.DtcOff, TransactionTimeout);
        endpoint.AddHandler<Inserts>();
        application.Services.AddNServiceBusEndpoint(endpoint);
        var host = application.Build();
        await host.StartAsync();
        return host;
    }

    internal sealed class Attempts(Predicate<int> isLate)
    {
        private int made;

        public int Made => Volatile.Read(ref made);

        public bool IsLate() => isLate(Interlocked.Increment(ref made));
    }

    // Not private: NServiceBus generates code that names it.
    internal sealed class Inserts(NpgsqlDataSource data, Attempts attempts) : IHandleMessages<BuildWidget>
    {
        public async Task Handle(BuildWidget message, IMessageHandlerContext context)
        {
            await using var connection = await data.OpenConnectionAsync(context.CancellationToken);
            await InsertAsync(connection, message, context.CancellationToken);
            if (attempts.IsLate())
                await Task.Delay(Overrun, context.CancellationToken);
            await InsertAsync(connection, message, context.CancellationToken);
        }

        private static async Task InsertAsync(NpgsqlConnection connection, BuildWidget message, CancellationToken cancellationToken)
        {
            await using var insert = new NpgsqlCommand("INSERT INTO widget (id, message_id) VALUES ($1, $2)", connection)
            {
                Parameters = { new() { Value = WidgetId.Next() }, new() { Value = message.MessageId } },
            };
            await insert.ExecuteNonQueryAsync(cancellationToken);
        }
    }
}
