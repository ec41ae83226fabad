using Kit.Endpoints.Bare;
using Kit.Endpoints.Bare.PostgreSql;
using Microsoft.Extensions.DependencyInjection;
using Npgsql;
using Orders;

namespace Kit.Tests.Samples;

/// <summary>A web request that writes a row and sends a message in one transaction, as the page shows it.</summary>
[Parallelizable]
public sealed class OrdersFromAController
{
    private TestDatabases databases = null!;
    private PostgreSqlQueue queue = null!;

    [SetUp]
    public async Task SetUp()
    {
        databases = await TestDatabases.CreateAsync();
        queue = new PostgreSqlQueue(databases.Queue, "orders");
        await queue.CreateAsync(CancellationToken.None);
    }

    [TearDown]
    public async Task TearDown()
    {
        await queue.DisposeAsync();
        await databases.DisposeAsync();
    }

    [Test]
    public async Task Are_written_and_sent_in_one_transaction()
    {
        await PostAsync(databases.Queue);

        Assert.That(await TestDatabases.ScalarAsync(databases.Queue, "SELECT count(*)::int FROM placed_order"), Is.EqualTo(1));
        Assert.That(await queue.CountAsync(CancellationToken.None), Is.EqualTo(1));
    }

    [Test]
    public async Task Are_refused_if_their_rows_are_in_another_database()
    {
        await Assert.ThatAsync(() => PostAsync(databases.Widgets), Throws.InstanceOf<NotSupportedException>());

        Assert.That(await TestDatabases.ScalarAsync(databases.Widgets, "SELECT count(*)::int FROM placed_order"), Is.Zero);
        Assert.That(await queue.CountAsync(CancellationToken.None), Is.Zero);
    }

    private async Task PostAsync(string rows)
    {
        await using var source = NpgsqlDataSource.Create(rows);
        await using (var connection = await source.OpenConnectionAsync())
            await OrderTable.CreateAsync(connection, CancellationToken.None);

        await using var services = Services(source, databases.Queue);
        await services.GetRequiredService<Controller>().PostAsync(new PlaceOrder(Guid.CreateVersion7()), CancellationToken.None);
    }

    private static ServiceProvider Services(NpgsqlDataSource rows, string queues)
    {
        var services = new ServiceCollection();
        services.AddSingleton(rows).AddTransient<Controller>();
        services.AddPostgreSqlMessageSender(queues);
        return services.BuildServiceProvider();
    }

    private sealed class Controller(NpgsqlDataSource database, IMessageSender sender)
    {
        public async Task PostAsync(PlaceOrder order, CancellationToken cancellationToken)
        {
            await using var connection = await database.OpenConnectionAsync(cancellationToken);
            await using var transaction = await connection.BeginTransactionAsync(cancellationToken);
            await OrderTable.InsertAsync(connection, order, cancellationToken);
            await sender.SendAsync("orders", order, transaction, cancellationToken: cancellationToken);
            await transaction.CommitAsync(cancellationToken);
        }
    }
}
