using Kit.Endpoints.Bare.PostgreSql.TwoPhase;
using Kit.Tests.TwoPhase;
using Npgsql;

namespace Kit.Tests.AcrossServers;

/// <summary>full-dtc with its queue on one server and its rows on another.</summary>
[Parallelizable]
public sealed class QueueAndDataOnTwoServers : OnTwoServers
{
    [Test]
    public async Task Each_message_has_one_row_and_one_send_and_the_rows_of_workers_that_have_ended_are_deleted()
    {
        var messages = await Bench.EnqueueAsync(30);
        await Bench.StartAsync();
        await Bench.DrainedAsync();
        await Bench.StopAsync();

        await Bench.HasExactlyOneEffectOfEachAsync(messages);
        await Bench.StartAsync(configure: endpoint => endpoint.LimitConcurrency(1));
        await Eventually.HoldsAsync(async () => await Bench.CountWorkersAsync() == 1, "only the living worker has a row");
        Assert.That(Bench.Log, Is.Empty);
    }

    [Test]
    public async Task An_attempt_that_fails_leaves_nothing_on_either_server()
    {
        var message = (await Bench.EnqueueAsync(1)).Single();
        var attempts = 0;
        await Bench.StartAsync(async (context, cancellationToken) =>
        {
            await TwoServersBench.InsertAndSendAsync(context, cancellationToken);
            if (Interlocked.Increment(ref attempts) < 3)
                throw new InvalidOperationException("not yet");
        });
        await Bench.DrainedAsync();

        await Bench.HasExactlyOneEffectOfEachAsync([message]);
        Assert.That(attempts, Is.EqualTo(3));
    }

    [Test]
    public async Task Messages_wait_while_the_server_of_the_rows_prepares_nothing()
    {
        await Bench.StartAsync();
        try
        {
            await TestDatabases.ExecuteAsync(DataServer.ConnectionString, "ALTER SYSTEM SET max_prepared_transactions = 0");
            await DataServer.RestartAsync(CancellationToken.None);
            var messages = await Bench.EnqueueAsync(2);
            await Eventually.HoldsAsync(
                () => Bench.Log.Count(line => line.Contains("prepared transactions are disabled", StringComparison.Ordinal)) >= 10,
                "both were tried more often than a message may fail");
            await TestDatabases.ExecuteAsync(DataServer.ConnectionString, "ALTER SYSTEM RESET max_prepared_transactions");
            await DataServer.RestartAsync(CancellationToken.None);

            await Bench.DrainedAsync();
            await Bench.HasExactlyOneEffectOfEachAsync(messages);
        }
        finally
        {
            await TestDatabases.ExecuteAsync(DataServer.ConnectionString, "ALTER SYSTEM RESET max_prepared_transactions");
            await DataServer.RestartAsync(CancellationToken.None);
        }
    }

    /// <summary>The log of the queue's server is flushed by nobody else, so a decision that does not wait for it is lost with the server.</summary>
    [TestCase("ALTER SYSTEM SET synchronous_commit = off", Category = ExhaustiveAttribute.Category)]
    [TestCase("CREATE TRIGGER hasty BEFORE INSERT ON sink EXECUTE FUNCTION hasten()")]
    public async Task A_decision_waits_for_the_log_although_its_session_would_not(string hasten)
    {
        var isHasty = new TaskCompletionSource();
        await Bench.StartAsync(async (context, cancellationToken) =>
        {
            await isHasty.Task;
            await TwoServersBench.InsertAndSendAsync(context, cancellationToken);
        });
        var messages = await Bench.EnqueueAsync(60);
        try
        {
            await TestDatabases.ExecuteAsync(
                Bench.QueueConnection,
                "CREATE FUNCTION hasten() RETURNS trigger LANGUAGE plpgsql AS " +
                "$$ BEGIN PERFORM set_config('synchronous_commit', 'off', true); RETURN NULL; END $$");
            await TestDatabases.ExecuteAsync(Bench.QueueConnection, "ALTER SYSTEM SET wal_writer_delay = '10s'");
            await TestDatabases.ExecuteAsync(Bench.QueueConnection, hasten);
            await TestDatabases.ExecuteAsync(Bench.QueueConnection, "SELECT pg_reload_conf()");
            isHasty.SetResult();
            await Eventually.HoldsAsync(async () => await Bench.Data.CountRowsAsync() >= 20, "some are decided");

            await QueueServer.StopImmediatelyAsync(CancellationToken.None);
            await QueueServer.RestartAsync(CancellationToken.None);

            await Bench.DrainedAsync();
            await Bench.HasExactlyOneEffectOfEachAsync(messages);
        }
        finally
        {
            await TestDatabases.ExecuteAsync(Bench.QueueConnection, "ALTER SYSTEM RESET ALL");
            await TestDatabases.ExecuteAsync(Bench.QueueConnection, "SELECT pg_reload_conf()");
        }
    }

    /// <summary>As a freeze does it: sessions that were opened meanwhile stay read-only. Handlers and recovery have a pool each.</summary>
    [Test]
    public async Task Sessions_that_were_opened_while_the_data_was_read_only_are_not_used_again()
    {
        var isFrozen = true;
        await Bench.StartAsync(
            async (context, cancellationToken) =>
            {
                await TwoPhaseBench.ExecuteAsync(await context.GetConnectionAsync(cancellationToken), "SELECT 1");
                if (!isFrozen)
                    await TwoServersBench.InsertAndSendAsync(context, cancellationToken);
            },
            data: new NpgsqlConnectionStringBuilder(Bench.DataConnection) { Pooling = true }.ConnectionString,
            configure: endpoint => endpoint.RecoveryInterval = TimeSpan.FromMilliseconds(100));
        var database = new NpgsqlConnectionStringBuilder(Bench.DataConnection).Database;
        await TestDatabases.ExecuteAsync(DataServer.ConnectionString, $"ALTER DATABASE {database} SET default_transaction_read_only = on");
        await TestDatabases.ExecuteAsync(
            DataServer.ConnectionString, $"SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = '{database}'");
        await Bench.EnqueueAsync(1);
        await Eventually.HoldsAsync(async () => await Bench.Queue.CountAsync(CancellationToken.None) == 0, "a handler has a session of the freeze");
        await Eventually.HoldsAsync(
            () => Bench.Log.Any(line => line.Contains("read-only transaction", StringComparison.Ordinal)), "recovery has met the freeze");
        await TestDatabases.ExecuteAsync(DataServer.ConnectionString, $"ALTER DATABASE {database} RESET default_transaction_read_only");
        isFrozen = false;

        var messages = await Bench.EnqueueAsync(5);
        await Bench.DrainedAsync();
        await Bench.HasExactlyOneEffectOfEachAsync(messages);
        await PrepareAsync(new WorkerBranch(await ReadIdentityAsync(), Guid.NewGuid(), 1).Id);
        await Eventually.HoldsAsync(async () => await Bench.Data.CountPreparedAsync() == 0, "recovery has ended the branch");
    }
}
