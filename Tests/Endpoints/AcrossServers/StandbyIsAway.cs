using Kit.Endpoints.Bare;
using Kit.Endpoints.Bare.PostgreSql.TwoPhase;
using Kit.Modes;
using Kit.Runner.Servers;
using Kit.Tests.TwoPhase;
using Microsoft.Extensions.Logging.Abstractions;
using Npgsql;

namespace Kit.Tests.AcrossServers;

/// <summary>full-dtc on two servers, one of which has to wait for a standby that is away.</summary>
[Exhaustive, Parallelizable]
public sealed class StandbyIsAway : OnTwoServers
{
    private const string NameOfAWait = "hashtext(xact_start::text)";

    private const string RecordASend =
        $"""
        WITH handled AS (INSERT INTO {TwoServersBench.Name}_inbox VALUES (gen_random_uuid()) RETURNING message_id)
        INSERT INTO {TwoServersBench.Name}_outbox SELECT message_id, 0, gen_random_uuid(), '{TwoServersBench.Sink}', 'a type', '' FROM handled
        """;

    /// <summary>The standby that the server has to wait for is away, so whoever waits for it stands still.</summary>
    [TestCase(true)]
    [TestCase(false)]
    public async Task A_branch_waits_for_the_standby_although_its_handler_or_its_database_would_not(bool isOfHandler)
    {
        await Bench.StartAsync(async (context, cancellationToken) =>
        {
            if (isOfHandler)
                await TwoPhaseBench.ExecuteAsync(await context.GetConnectionAsync(cancellationToken), "SET LOCAL synchronous_commit = local");
            await TwoServersBench.InsertAndSendAsync(context, cancellationToken);
        });
        if (!isOfHandler)
            await HastenAsync(Bench.DataConnection);
        await RequireStandbyAsync(DataServer, "absent");
        var messages = await Bench.EnqueueAsync(1);

        await Eventually.HoldsAsync(
            async () => await TestDatabases.ScalarAsync(
                Bench.DataConnection,
                "SELECT count(*)::int FROM pg_stat_activity WHERE wait_event = 'SyncRep' AND starts_with(query, 'PREPARE TRANSACTION')") == 1,
            "the prepare waits");
        Assert.That(await Bench.Queue.CountAsync(CancellationToken.None), Is.EqualTo(1), "not decided");
        await RequireStandbyAsync(DataServer, "");
        await Bench.DrainedAsync();
        await Bench.HasExactlyOneEffectOfEachAsync(messages);
    }

    /// <summary>The wait for the standby is cancelled, as by a time-out, and the server reports success with a warning.</summary>
    [TestCase(false)]
    [TestCase(true)]
    public async Task A_commit_that_stopped_waiting_for_the_standby_is_not_believed(bool ofQueue)
    {
        var isAway = new TaskCompletionSource();
        await Bench.StartAsync(
            async (context, cancellationToken) =>
            {
                await isAway.Task;
                await TwoServersBench.InsertAndSendAsync(context, cancellationToken);
            });
        var messages = await Bench.EnqueueAsync(1);
        await HastenAsync(ofQueue ? Bench.QueueConnection : Bench.DataConnection);
        await RequireStandbyAsync(ofQueue ? QueueServer : DataServer, "absent");
        try
        {
            isAway.SetResult();
            await CancelWaitAsync(ofQueue ? QueueServer : DataServer, ofQueue ? "COMMIT" : "PREPARE TRANSACTION");
            await Eventually.HoldsAsync(
                () => Bench.Log.Any(line => line.Contains("stopped waiting for its standbys", StringComparison.Ordinal)), "the wait is cancelled");
            if (!ofQueue)
                Assert.That(await Bench.Queue.CountAsync(CancellationToken.None), Is.EqualTo(1), "nothing is decided on a branch that no standby has");
            await RequireStandbyAsync(ofQueue ? QueueServer : DataServer, "");
            await Bench.DrainedAsync();
            await Bench.HasExactlyOneEffectOfEachAsync(messages);
        }
        finally
        {
            await RequireStandbyAsync(ofQueue ? QueueServer : DataServer, "");
        }
    }

    /// <summary>The decision waits while the standby of the branches' server is taken away, so the second phase is the first that misses it.</summary>
    [Test]
    public async Task An_end_that_stopped_waiting_for_the_standby_stays_in_the_list()
    {
        await Bench.StartAsync(configure: endpoint => endpoint.LimitConcurrency(1).RecoveryInterval = TimeSpan.FromHours(1));
        await HastenAsync(Bench.DataConnection);
        await TestDatabases.ExecuteAsync(
            Bench.QueueConnection,
            "CREATE FUNCTION hold() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN PERFORM pg_advisory_xact_lock_shared(42); RETURN NEW; END $$; " +
            "CREATE TRIGGER hold BEFORE UPDATE ON kit_worker FOR EACH ROW EXECUTE FUNCTION hold()");
        try
        {
            await using (var queue = NpgsqlDataSource.Create(new NpgsqlConnectionStringBuilder(Bench.QueueConnection) { Pooling = false }))
            await using (var holder = await queue.OpenConnectionAsync())
            {
                await TwoPhaseBench.ExecuteAsync(holder, "SELECT pg_advisory_lock(42)");
                await Bench.EnqueueAsync(1);
                await Eventually.HoldsAsync(async () => await Bench.Data.CountPreparedAsync() == 1, "prepared, and not decided");
                await RequireStandbyAsync(DataServer, "absent");
            }

            await CancelWaitAsync(DataServer, "COMMIT PREPARED");
            await Eventually.HoldsAsync(() => Bench.Log.Any(line => line.Contains("left to recovery", StringComparison.Ordinal)), "its end is not believed");
        }
        finally
        {
            await RequireStandbyAsync(DataServer, "");
        }

        await Bench.EnqueueAsync(1);
        await Bench.DrainedAsync();
        Assert.That(await TestDatabases.ScalarAsync(Bench.QueueConnection, "SELECT max(cardinality(open)) FROM kit_worker"), Is.EqualTo(2));
    }

    /// <summary>What recovery sees as gone can be an end that no standby has, and that a failover takes back.</summary>
    [Test]
    public async Task A_branch_that_is_gone_is_believed_when_the_standby_has_it()
    {
        await using var data = NpgsqlDataSource.Create(new NpgsqlConnectionStringBuilder(Bench.DataConnection) { Pooling = false });
        var branch = new WorkerBranch(Guid.NewGuid(), Guid.NewGuid(), 1).Id;
        var slots = new Slots(data, new SlotNeeds(Total: 100, Concurrency: 1), NullLogger.Instance, _ => { });
        slots.Leave(branch);
        var log = new AskedLog { Standbys = new ServerRefusedException(new NpgsqlException("no answer")) };

        await Assert.ThatAsync(
            () => new Recovery(data, log, NullLogger.Instance, slots).RunAsync(TimeSpan.Zero, CancellationToken.None),
            Throws.InstanceOf<ServerRefusedException>());

        Assert.That(slots.Left, Is.EqualTo([branch]));
    }

    [Test]
    public async Task The_row_of_a_worker_stays_until_the_standby_has_the_end_of_its_branches()
    {
        await Bench.StartAsync();
        await Bench.StopAsync();
        await using var queues = NpgsqlDataSource.Create(new NpgsqlConnectionStringBuilder(Bench.QueueConnection) { Pooling = false });
        var text = new NpgsqlConnectionStringBuilder(Bench.DataConnection) { Pooling = false }.ConnectionString;
        await using var data = NpgsqlDataSource.Create(text);
        var place = await QueueDatabase.ReadAsync(data, CancellationToken.None);
        await using var pair = await ServerPair.StartAsync(
            TwoServersBench.Name, queues, new Participant("", new DatabaseAccess(text)), place, CancellationToken.None);
        var worker = Guid.NewGuid();
        await InsertWorkerAsync(worker, "{1}");
        await HastenAsync(Bench.DataConnection);
        await using var connection = await data.OpenConnectionAsync();
        await RequireStandbyAsync(DataServer, "absent");
        try
        {
            var cancelling = CancelWaitAsync(DataServer, "UPDATE");
            await Assert.ThatAsync(
                () => new WorkerRows([pair], WorkerRows.Table).TidyAsync(pair, connection, CancellationToken.None),
                Throws.InstanceOf<ServerRefusedException>());
            await cancelling;
        }
        finally
        {
            await RequireStandbyAsync(DataServer, "");
        }

        Assert.That(
            await TestDatabases.ScalarAsync(Bench.QueueConnection, $"SELECT count(*)::int FROM kit_worker WHERE id = '{worker}'"), Is.EqualTo(1));
    }

    /// <summary>A standby that answers later than the passes of recovery come: each question would fence the worker, whose prepare has not returned.</summary>
    [Test]
    public async Task A_branch_whose_prepare_waits_for_the_standby_is_not_asked_about()
    {
        var branch = new WorkerBranch(Guid.NewGuid(), Guid.NewGuid(), 1).Id;
        var log = new AskedLog();
        await using var data = NpgsqlDataSource.Create(new NpgsqlConnectionStringBuilder(Bench.DataConnection) { Pooling = false });
        var recovery = new Recovery(data, log, NullLogger.Instance);
        await RequireStandbyAsync(DataServer, "absent");
        var preparing = PrepareAsync(branch);
        try
        {
            await Eventually.HoldsAsync(async () => await Bench.Data.CountPreparedAsync() == 1, "it is prepared here");
            await recovery.RunAsync(TimeSpan.Zero, CancellationToken.None);
            Assert.That(log.Asked, Is.Zero);
        }
        finally
        {
            await RequireStandbyAsync(DataServer, "");
        }

        await preparing;
        await recovery.RunAsync(TimeSpan.Zero, CancellationToken.None);
        Assert.That(log.Asked, Is.EqualTo(1));
    }

    /// <summary>
    /// The queue's server forgets the message after the commit of the rows, which a failover would take back. A cancelled wait is no failed attempt.
    /// </summary>
    [TestCase("dtc-off")]
    [TestCase("outbox")]
    public async Task Without_two_phases_a_message_stays_until_the_standby_has_its_rows(string mode)
    {
        var isAway = new TaskCompletionSource();
        await Bench.StartAsync(
            async (context, cancellationToken) =>
            {
                await isAway.Task;
                await TwoServersBench.InsertAndSendAsync(context, cancellationToken);
            },
            configure: endpoint => endpoint.UseTransactionMode(TransactionMode.Parse(mode)).LimitConcurrency(1));
        var message = (await Bench.EnqueueAsync(1)).Single();
        await HastenAsync(Bench.DataConnection);
        await RequireStandbyAsync(DataServer, "absent");
        try
        {
            isAway.SetResult();
            var cancelled = await CancelWaitAsync(DataServer, "COMMIT");
            await Eventually.HoldsAsync(
                async () => await FindWaitAsync(DataServer, "COMMIT") is not 0 and var wait && wait != cancelled, "it waits again");
            Assert.That(await Bench.Queue.CountAsync(CancellationToken.None), Is.EqualTo(1));
            Assert.That(await Bench.CountSendsAsync(), Is.Zero);
        }
        finally
        {
            await RequireStandbyAsync(DataServer, "");
        }

        await Bench.DrainedAsync();
        await Eventually.HoldsAsync(async () => await Bench.CountSendsAsync() == 1, "the message is sent");
        Assert.That(await Bench.Data.CountRowsAsync(message), Is.EqualTo(1));
        Assert.That(await Bench.Queue.ReadErrorsAsync(CancellationToken.None), Is.Empty);
    }

    /// <summary>The data's server would forget what a failover of the queue's takes back, and the message that comes again is not handled again.</summary>
    [Test]
    public async Task The_outbox_keeps_a_send_until_the_standby_of_the_queue_has_it([Values] bool isHastened, [Values] bool byDispatcher)
    {
        if (isHastened)
            await HastenAsync(Bench.QueueConnection);
        var isAway = new TaskCompletionSource();
        await Bench.StartAsync(
            async (context, cancellationToken) =>
            {
                await isAway.Task;
                await TwoServersBench.InsertAndSendAsync(context, cancellationToken);
            },
            configure: endpoint => endpoint.UseTransactionMode(TransactionMode.Outbox).LimitConcurrency(1));
        if (!byDispatcher)
            await Bench.EnqueueAsync(1);
        await RequireStandbyAsync(QueueServer, "absent");
        var statement = byDispatcher ? "INSERT INTO" : "COMMIT";
        try
        {
            isAway.SetResult();
            if (byDispatcher)
                await TestDatabases.ExecuteAsync(Bench.DataConnection, RecordASend);
            var cancelled = await CancelWaitAsync(QueueServer, statement);
            await Eventually.HoldsAsync(
                async () => await FindWaitAsync(QueueServer, "COMMIT") is not 0 and var wait && wait != cancelled, "it waits again");
            Assert.That(await CountRecordsAsync(), Is.EqualTo(1));
        }
        finally
        {
            await RequireStandbyAsync(QueueServer, "");
        }

        await Eventually.HoldsAsync(async () => await CountRecordsAsync() == 0, "the send is forgotten");
        Assert.That(await Bench.CountSendsAsync(), Is.EqualTo(1));
    }

    /// <summary>Sessions that are opened from now on wait for no standby, and are told of none.</summary>
    private static async Task HastenAsync(string connection)
    {
        var database = new NpgsqlConnectionStringBuilder(connection).Database;
        foreach (var setting in new[] { "synchronous_commit = local", "client_min_messages = error" })
            await TestDatabases.ExecuteAsync(connection, $"ALTER DATABASE {database} SET {setting}");
    }

    private static async Task RequireStandbyAsync(PrivatePostgreSql server, string name)
    {
        await TestDatabases.ExecuteAsync(server.ConnectionString, $"ALTER SYSTEM SET synchronous_standby_names = '{name}'");
        await TestDatabases.ExecuteAsync(server.ConnectionString, "SELECT pg_reload_conf()");
        // Only when another process of the server has read it does a commit wait.
        if (name.Length > 0)
            await Eventually.HoldsAsync(() => WaitsAsync(server), "commits wait for the standby");
    }

    /// <summary>Whether a commit waits for a standby. If it does, the wait is cancelled.</summary>
    private static async Task<bool> WaitsAsync(PrivatePostgreSql server)
    {
        await using var connection = new NpgsqlConnection(server.ConnectionString + ";Pooling=false");
        await connection.OpenAsync();
        var session = connection.ProcessID;
        await using var command =
            new NpgsqlCommand("SELECT pg_logical_emit_message(true, 'kit', 'waits')", connection) { CommandTimeout = 0 };
        var committing = command.ExecuteNonQueryAsync();
        var look = $"SELECT count(*)::int FROM pg_stat_activity WHERE pid = {session} AND wait_event = 'SyncRep'";
        var waits = false;
        await Eventually.HoldsAsync(
            async () => (waits = await TestDatabases.ScalarAsync(server.ConnectionString, look) == 1) || committing.IsCompleted,
            "a commit waits or ends");
        if (waits)
            await TestDatabases.ExecuteAsync(server.ConnectionString, $"SELECT pg_cancel_backend({session})");
        await committing;
        return waits;
    }

    /// <summary>
    /// Cancels the wait for the standby of a statement that begins so. A time-out of the driver does the same, and could be met by a
    /// statement that only is slow.
    /// </summary>
    /// <returns>Names the wait.</returns>
    private static async Task<int> CancelWaitAsync(PrivatePostgreSql server, string statement)
    {
        var wait = 0;
        await Eventually.HoldsAsync(
            async () => (wait = await FindWaitAsync(server, statement, $"CASE WHEN pg_cancel_backend(pid) THEN {NameOfAWait} END")) != 0,
            $"{statement} waits for the standby");
        return wait;
    }

    /// <returns>Names the wait; 0 if there is none.</returns>
    private static Task<int> FindWaitAsync(PrivatePostgreSql server, string statement, string name = NameOfAWait) =>
        TestDatabases.ScalarAsync(
            server.ConnectionString,
            $"""
            SELECT coalesce((SELECT {name} FROM pg_stat_activity
                             WHERE wait_event = 'SyncRep' AND starts_with(query, '{statement}') LIMIT 1), 0)
            """);

    private Task<int> CountRecordsAsync() =>
        TestDatabases.ScalarAsync(Bench.DataConnection, $"SELECT count(*)::int FROM {TwoServersBench.Name}_outbox");

    /// <summary>Counts the questions of recovery, and says that nothing was decided.</summary>
    private sealed class AskedLog : IDecisionLog
    {
        public int Asked { get; private set; }

        /// <summary>What waiting for the standbys fails with, if it does.</summary>
        public Exception? Standbys { get; init; }

        public string? BeforeEnds => null;

        public SlotKin KinOf(SlotHolder holder) => SlotKin.Own;

        public Task RequireAsync(NpgsqlConnection data, CancellationToken cancellationToken) => Task.CompletedTask;

        public Task RenewAsync(NpgsqlConnection data, CancellationToken cancellationToken) => Task.CompletedTask;

        public Task AwaitStandbysAsync(NpgsqlConnection data, CancellationToken cancellationToken) =>
            Standbys is null ? Task.CompletedTask : Task.FromException(Standbys);

        public Task<BranchDecision> ReadAsync(NpgsqlConnection data, BranchId branch, bool isYoung, CancellationToken cancellationToken)
        {
            Asked++;
            return Task.FromResult(BranchDecision.Aborted);
        }

        public Task<long> RequireDecidedAsync(NpgsqlConnection data, IReadOnlyCollection<BranchId> branches) => throw new NotSupportedException();

        public void Ended(BranchId branch) => throw new NotSupportedException();

        public Task TidyAsync(NpgsqlConnection data, CancellationToken cancellationToken) => Task.CompletedTask;
    }
}
