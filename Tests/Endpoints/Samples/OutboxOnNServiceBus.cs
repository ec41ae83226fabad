using Kit.Modes;
using Microsoft.Extensions.DependencyInjection;
using Microsoft.Extensions.Hosting;
using Npgsql;
using NpgsqlTypes;
using NServiceBus;
using Orders;

namespace Kit.Tests.Samples;

/// <summary>NServiceBus in <c>outbox</c> with the persistence that the page shows. Compiled only if the package feed has it.</summary>
[Parallelizable]
public sealed class OutboxOnNServiceBus
{
    // The installer runs scripts that the package generates while an application is built; a test creates the table itself.
    private const string OutboxTable =
        """
        CREATE TABLE public."OrdersOutboxData" (
            "MessageId" varchar(200) PRIMARY KEY, "Dispatched" boolean NOT NULL DEFAULT false, "DispatchedAt" timestamp,
            "PersistenceVersion" varchar(23), "Operations" jsonb NOT NULL)
        """;

    [Test]
    public async Task Places_the_order()
    {
        await using var databases = await TestDatabases.CreateAsync();
        await TestDatabases.ExecuteAsync(databases.Widgets, OutboxTable);
        await TestDatabases.ExecuteAsync(databases.Widgets, "CREATE TABLE placed_order (id uuid NOT NULL)");
        var builder = Host.CreateEmptyApplicationBuilder(settings: null);
        builder.Services.AddNServiceBusEndpoint(Configured((databases.Queue, databases.Widgets)));
        using var host = builder.Build();
        await host.StartAsync();
        var order = new PlaceOrder(Guid.CreateVersion7());

        await host.Services.GetRequiredService<IMessageSession>().SendLocal(order);

        await Eventually.HoldsAsync(
            async () => await TestDatabases.ScalarAsync(databases.Widgets, $"SELECT count(*)::int FROM placed_order WHERE id = '{order.OrderId}'") == 1,
            "the order is placed");
        await Eventually.HoldsAsync(
            async () => await TestDatabases.ScalarAsync(databases.Widgets, "SELECT count(*)::int FROM \"OrdersOutboxData\" WHERE \"Dispatched\"") == 1,
            "the outbox has kept the message's id");
        await host.StopAsync();
    }

    private static EndpointConfiguration Configured((string Queues, string Data) settings)
    {
        var endpoint = new EndpointConfiguration("orders");
        endpoint.UseTransactionMode(new PostgreSqlTransport(settings.Queues), TransactionMode.Outbox);
        var persistence = endpoint.UsePersistence<SqlPersistence>();
        persistence.SqlDialect<SqlDialect.PostgreSql>().JsonBParameterModifier(
            parameter => ((NpgsqlParameter)parameter).NpgsqlDbType = NpgsqlDbType.Jsonb);
        persistence.ConnectionBuilder(() => new NpgsqlConnection(settings.Data));

        persistence.TablePrefix("Orders");
        persistence.DisableInstaller();
        endpoint.UseSerialization<SystemJsonSerializer>();
        endpoint.EnableInstallers();
        endpoint.AssemblyScanner().Disable = true;
        endpoint.Conventions().DefiningCommandsAs(type => type == typeof(PlaceOrder));
        endpoint.AddHandler<PlaceOrderHandler>();
        return endpoint;
    }

    internal sealed class PlaceOrderHandler : IHandleMessages<PlaceOrder>
    {
        public Task Handle(PlaceOrder message, IMessageHandlerContext context)
        {
            var connection = context.SynchronizedStorageSession.SqlPersistenceSession().Connection; // lent: NServiceBus commits and closes it
            return OrderTable.InsertAsync(connection, message, context.CancellationToken);
        }
    }
}
