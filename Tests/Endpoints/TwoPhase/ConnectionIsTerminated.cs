using Kit.Modes;
using Kit.Tests.Bare;

namespace Kit.Tests.TwoPhase;

/// <summary>full-dtc, one of its two sessions terminated by the server while the other and the process live on.</summary>
[Parallelizable]
public sealed class ConnectionIsTerminated
{
    [TestCase("_widgets", TestName = "That_of_the_branch_before_it_is_prepared")]
    [TestCase("_queue", TestName = "That_of_the_queue_before_its_decision")]
    public async Task The_message_has_its_effect_once(string database)
    {
        await using var bench = await BareBench.CreateAsync();
        var terminated = 0;

        var errors = await bench.HandleAsync(TransactionMode.FullDtc, async (context, cancellationToken) =>
        {
            var connection = await context.GetConnectionAsync(cancellationToken);
            await using var insert = connection.CreateCommand();
            insert.CommandText = $"INSERT INTO widget (id, message_id) VALUES ({Kit.Handlers.WidgetId.Next()}, '{context.MessageId}')";
            await insert.ExecuteNonQueryAsync(cancellationToken);
            if (terminated == 0)
                terminated = await bench.Databases.TerminateSessionsInTransactionAsync(database);
        });

        Assert.That(terminated, Is.EqualTo(1), "the fault fired");
        Assert.That(errors, Is.Empty);
        Assert.That(await bench.Databases.CountRowsAsync(), Is.EqualTo(1));
        await bench.RestartAsync(TransactionMode.FullDtc);
        Assert.That(await bench.Databases.CountPreparedAsync(), Is.Zero);
    }
}
