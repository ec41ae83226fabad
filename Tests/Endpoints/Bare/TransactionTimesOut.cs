using System.Data.Common;
using System.Transactions;
using Kit.Handlers;
using Kit.Modes;

namespace Kit.Tests.Bare;

/// <summary>A handler that works for longer than its ambient transaction lasts.</summary>
[Parallelizable]
public sealed class TransactionTimesOut
{
    private static readonly TimeSpan Limit = TimeSpan.FromSeconds(1);
    private BareBench bench = null!;

    private static IEnumerable<TransactionMode> OwnCommitModes =>
        BareBench.Modes.Where(mode => mode.CommitOrder.HasAmbientTransaction && mode != TransactionMode.NpgsqlScope);

    [SetUp]
    public async Task SetUp() => bench = await BareBench.CreateAsync();

    [TearDown]
    public async Task TearDown() => await bench.DisposeAsync();

    [ModeSource(nameof(OwnCommitModes))]
    public async Task The_attempt_leaves_nothing_and_the_next_one_counts(TransactionMode mode)
    {
        var errors = await bench.HandleAsync(mode, InsertAroundAPause(pausesAlways: false), endpoint => endpoint.LimitTransactions(Limit));

        Assert.That(errors, Is.Empty);
        Assert.That(await bench.Databases.CountRowsAsync(), Is.EqualTo(2), "the two rows of the second attempt");
        Assert.That(await bench.Databases.CountPreparedAsync(), Is.Zero);
    }

    [ModeSource(nameof(OwnCommitModes))]
    public async Task A_message_that_always_takes_too_long_goes_to_the_errors_and_leaves_nothing(TransactionMode mode)
    {
        var errors = await bench.HandleAsync(mode, InsertAroundAPause(pausesAlways: true), endpoint => endpoint.LimitTransactions(Limit));

        Assert.That(errors.Single(), Has.Property("FailedAttempts").EqualTo(3).And.Property("Reason").Contains("Timeout"));
        Assert.That(await bench.Databases.CountRowsAsync(), Is.Zero);
        Assert.That(await bench.Databases.CountPreparedAsync(), Is.Zero);
    }

    // Npgsql rolls back and un-enlists the connection; the next statement commits by itself. Pinned: a fixed driver is noticed.
    [Test]
    public async Task Where_the_driver_enlists_what_is_written_after_the_time_out_stays()
    {
        await bench.HandleAsync(TransactionMode.NpgsqlScope, InsertAroundAPause(pausesAlways: true), endpoint => endpoint.LimitTransactions(Limit));

        Assert.That(await bench.Databases.CountRowsAsync(), Is.GreaterThan(0));
    }

    [Test]
    public void A_limit_above_that_of_the_process_is_refused_with_the_line_that_raises_it() =>
        Assert.That(
            () => bench.Build(
                TransactionMode.DtcOff,
                (_, _) => Task.CompletedTask,
                configure: endpoint => endpoint.LimitTransactions(TimeSpan.FromMinutes(30))),
            Throws.InstanceOf<ArgumentOutOfRangeException>().With.Message.Contains("TransactionManager.MaximumTimeout = TimeSpan.FromMinutes(30);"));

    private static Work InsertAroundAPause(bool pausesAlways) => async (context, cancellationToken) =>
    {
        var connection = await context.GetConnectionAsync(cancellationToken);
        await InsertAsync(connection, context.MessageId);
        if (pausesAlways || context.Attempt == 1)
        {
            // It tells whoever is enlisted before it is complete.
            var completed = new TaskCompletionSource(TaskCreationOptions.RunContinuationsAsynchronously);
            Transaction.Current!.TransactionCompleted += (_, _) => completed.SetResult();
            await completed.Task.WaitAsync(Eventually.Limit, CancellationToken.None);
        }

        await InsertAsync(connection, context.MessageId);
    };

    private static async Task InsertAsync(DbConnection connection, Guid messageId)
    {
        await using var command = connection.CreateCommand();
        command.CommandText = $"INSERT INTO widget (id, message_id) VALUES ({WidgetId.Next()}, '{messageId}')";
        await command.ExecuteNonQueryAsync();
    }
}
