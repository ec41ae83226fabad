using System.Data.Common;

namespace Kit.Tests.Outbox;

/// <summary>A handler that commits the transaction that <c>outbox</c> has lent it, and then is cancelled or times out.</summary>
[Parallelizable]
public sealed class HandlerCommitsItself
{
    [TestCase("postgresql")]
    [TestCase("rabbitmq")]
    public async Task A_time_out_of_its_own_does_not_make_its_message_handled(string transport)
    {
        await using var bench = await OutboxBench.CreateAsync(transport);
        using var endpoint = bench.Build(message => [("built", message)], work: async (context, cancellationToken) =>
        {
            await ExecuteAsync(await context.GetConnectionAsync(cancellationToken), "COMMIT");
            throw new TaskCanceledException("A call of the handler's has timed out.");
        });
        await endpoint.StartAsync();
        await bench.SendAsync(Guid.CreateVersion7());

        await Eventually.HoldsAsync(() => bench.Entered > 0, "the handler is entered");
        await bench.DrainedAsync();
        await endpoint.StopAsync();

        await AssertGivenUpAsync(bench);
    }

    [TestCase("postgresql")]
    [TestCase("rabbitmq")]
    public async Task Its_message_is_given_up_when_the_host_stops_waiting_for_it(string transport)
    {
        await using var bench = await OutboxBench.CreateAsync(transport);
        var committed = new TaskCompletionSource();
        using var endpoint = bench.Build(message => [("built", message)], work: async (context, cancellationToken) =>
        {
            await ExecuteAsync(await context.GetConnectionAsync(cancellationToken), "COMMIT");
            committed.SetResult();
            await Task.Delay(Timeout.Infinite, cancellationToken);
        });
        await endpoint.StartAsync();
        await bench.SendAsync(Guid.CreateVersion7());

        await committed.Task;
        await endpoint.StopAsync(new CancellationToken(canceled: true));

        await AssertGivenUpAsync(bench);
        Assert.That(await bench.Queue.CountAsync(CancellationToken.None), Is.Zero, "in the queue it would be handled again");
    }

    [TestCase("postgresql")]
    [TestCase("rabbitmq")]
    public async Task Its_message_is_given_up_when_it_has_begun_another_transaction(string transport)
    {
        await using var bench = await OutboxBench.CreateAsync(transport);
        using var endpoint = bench.Build(
            message => [("built", message)],
            work: async (context, cancellationToken) => await ExecuteAsync(await context.GetConnectionAsync(cancellationToken), "COMMIT AND CHAIN"));
        await endpoint.StartAsync();
        await bench.SendAsync(Guid.CreateVersion7());

        await Eventually.HoldsAsync(() => bench.Entered > 0, "the handler is entered");
        await bench.DrainedAsync();
        await endpoint.StopAsync();

        await AssertGivenUpAsync(bench);
    }

    private static async Task AssertGivenUpAsync(OutboxBench bench)
    {
        Assert.That(
            (await bench.Queue.ReadErrorsAsync(CancellationToken.None)).Single(),
            Has.Property("FailedAttempts").EqualTo(1).And.Property("Reason").Contains("The handler committed the transaction"));
        Assert.That(await bench.Databases.CountRowsAsync(), Is.EqualTo(1), "the handler's own commit stays");
        Assert.That(await TestDatabases.ScalarAsync(bench.Databases.Widgets, "SELECT count(*)::int FROM orders_inbox"), Is.Zero, "not handled");
    }

    private static async Task ExecuteAsync(DbConnection connection, string sql)
    {
        await using var command = connection.CreateCommand();
        command.CommandText = sql;
        await command.ExecuteNonQueryAsync();
    }
}
