using Kit.Endpoints.Bare;
using Kit.Endpoints.Bare.SqlServer;
using Kit.Handlers;
using Microsoft.Data.SqlClient;

namespace Kit.Tests.SqlServer;

/// <summary>An event that one of its subscribers cannot receive reaches none of them.</summary>
public sealed class EventsOnSqlServer
{
    [TestCaseSource(typeof(SqlServerServer), nameof(SqlServerServer.Cases))]
    public async Task Outside_of_a_transaction_a_publish_is_one_unit(string server)
    {
        Assert.That(server, Is.Not.Empty);
        await using var databases = await SqlServerTestDatabases.CreateAsync();
        await using var first = await SubscribedAsync(databases, "a first");
        await using var second = await SubscribedAsync(databases, "second");
        await second.DropAsync(CancellationToken.None);
        var id = Guid.CreateVersion7();
        await using var connection = new SqlConnection(databases.Widgets);
        await connection.OpenAsync();

        await Assert.ThatAsync(() => PublishAsync(connection, transaction: null, id), Throws.TypeOf<SqlException>().With.Message.Contains("second"));
        Assert.That(await first.CountAsync(CancellationToken.None), Is.Zero);

        await second.CreateAsync(CancellationToken.None);
        await PublishAsync(connection, transaction: null, id);
        foreach (var queue in new[] { first, second })
            Assert.That(await queue.ReadMessagesAsync(CancellationToken.None), Is.EqualTo(new[] { id }), queue.Name);
    }

    [TestCaseSource(typeof(SqlServerServer), nameof(SqlServerServer.Cases))]
    public async Task In_a_transaction_a_publish_that_fails_takes_all_of_it_back(string server)
    {
        Assert.That(server, Is.Not.Empty);
        await using var databases = await SqlServerTestDatabases.CreateAsync();
        await using var first = await SubscribedAsync(databases, "a first");
        await using var second = await SubscribedAsync(databases, "second");
        await second.DropAsync(CancellationToken.None);
        await using var connection = new SqlConnection(databases.Widgets);
        await connection.OpenAsync();

        await using (var transaction = (SqlTransaction)await connection.BeginTransactionAsync())
        {
            await Assert.ThatAsync(() => PublishAsync(connection, transaction, Guid.CreateVersion7()), Throws.TypeOf<SqlException>());
            await Assert.ThatAsync(() => transaction.CommitAsync(), Throws.InstanceOf<Exception>(), "a caller that goes on");
        }

        Assert.That(await first.CountAsync(CancellationToken.None), Is.Zero);
    }

    [TestCaseSource(typeof(SqlServerServer), nameof(SqlServerServer.Cases))]
    public async Task In_a_transaction_it_is_part_of_it(string server)
    {
        Assert.That(server, Is.Not.Empty);
        await using var databases = await SqlServerTestDatabases.CreateAsync();
        await using var queue = await SubscribedAsync(databases, "only");
        await using var connection = new SqlConnection(databases.Widgets);
        await connection.OpenAsync();

        await using (var transaction = (SqlTransaction)await connection.BeginTransactionAsync())
        {
            await PublishAsync(connection, transaction, Guid.CreateVersion7());
            await transaction.RollbackAsync();
        }

        Assert.That(await queue.CountAsync(CancellationToken.None), Is.Zero);
    }

    private static async Task<SqlServerQueue> SubscribedAsync(SqlServerTestDatabases databases, string name)
    {
        var queue = new SqlServerQueue(databases.Widgets, name);
        await queue.CreateAsync(CancellationToken.None);
        await queue.SubscribeAsync(typeof(WidgetReady), CancellationToken.None);
        return queue;
    }

    private static async Task PublishAsync(SqlConnection connection, SqlTransaction? transaction, Guid id)
    {
        await using var command = MessageCommands.Send(OutgoingMessage.CreateEvent(new WidgetReady(id), id));
        (command.Connection, command.Transaction) = (connection, transaction);
        await command.ExecuteNonQueryAsync();
    }
}
