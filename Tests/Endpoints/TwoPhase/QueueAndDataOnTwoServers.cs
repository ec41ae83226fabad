using Kit.Endpoints.Bare;
using Kit.Endpoints.Bare.PostgreSql.TwoPhase;
using Kit.Modes;
using Kit.Runner.Servers;
using Kit.Runner.Wire;
using Npgsql;
using Npgsql.Replication;

namespace Kit.Tests.TwoPhase;

/// <summary>full-dtc with its queue on one server and its rows on another.</summary>
[Parallelizable]
public sealed class QueueAndDataOnTwoServers
{
    private const string NotTogether = "have not been started together";

    private PrivatePostgreSql queueServer = null!;
    private PrivatePostgreSql dataServer = null!;
    private TwoServersBench bench = null!;

    [OneTimeSetUp]
    public async Task StartServers()
    {
        PostgreSqlServer.IgnoreWithoutPrograms();
        queueServer = await PrivatePostgreSql.StartAsync(CancellationToken.None);
        dataServer = await PrivatePostgreSql.StartAsync(CancellationToken.None);
    }

    [OneTimeTearDown]
    public async Task StopServers()
    {
        if (queueServer is not null)
            await queueServer.DisposeAsync();
        if (dataServer is not null)
            await dataServer.DisposeAsync();
    }

    [SetUp]
    public async Task SetUp() => bench = await TwoServersBench.CreateAsync(queueServer, dataServer);

    [TearDown]
    public async Task TearDown()
    {
        if (bench is not null)
            await bench.DisposeAsync();
        bench = null!;
    }

    [Test]
    public async Task Each_message_has_one_row_and_one_send_and_the_rows_of_workers_that_have_ended_are_deleted()
    {
        var messages = await bench.EnqueueAsync(100);
        await bench.StartAsync();
        await bench.DrainedAsync();
        await bench.StopAsync();

        await bench.HasExactlyOneEffectOfEachAsync(messages);
        await bench.StartAsync(configure: endpoint => endpoint.LimitConcurrency(1));
        await Eventually.HoldsAsync(async () => await bench.CountWorkersAsync() == 1, "only the living worker has a row");
        Assert.That(bench.Log, Is.Empty);
    }

    [Test]
    public async Task An_attempt_that_fails_leaves_nothing_on_either_server()
    {
        var message = (await bench.EnqueueAsync(1)).Single();
        var attempts = 0;
        await bench.StartAsync(async (context, cancellationToken) =>
        {
            await TwoServersBench.InsertAndSendAsync(context, cancellationToken);
            if (Interlocked.Increment(ref attempts) < 3)
                throw new InvalidOperationException("not yet");
        });
        await bench.DrainedAsync();

        await bench.HasExactlyOneEffectOfEachAsync([message]);
        Assert.That(attempts, Is.EqualTo(3));
    }

    /// <summary>Between prepare and decision, the worker waits for an answer, and the recovery of another process finds its branch.</summary>
    [Test]
    public async Task A_slow_worker_is_fenced_and_its_message_is_handled_again_without_an_attempt()
    {
        var message = (await bench.EnqueueAsync(1)).Single();
        await using var proxy = new FaultProxy("127.0.0.1", new NpgsqlConnectionStringBuilder(bench.DataConnection).Port);
        var slow = new NpgsqlConnectionStringBuilder(bench.DataConnection) { Port = proxy.Port };
        var attempts = new List<int>();
        await bench.StartAsync(
            async (context, cancellationToken) =>
            {
                attempts.Add(attempts.Count);
                await TwoServersBench.InsertAndSendAsync(context, cancellationToken);
                if (attempts.Count == 1)
                    proxy.Stall(Traffic.ToClient);
            },
            data: slow.ConnectionString);
        await Eventually.HoldsAsync(async () => await bench.Data.CountPreparedAsync() == 1, "prepared, and not answered");

        await bench.StartAsync();
        Assert.That(await bench.Data.CountPreparedAsync(), Is.Zero, "the second process has rolled the branch back");
        proxy.Resume(Traffic.ToClient);
        await bench.DrainedAsync();

        await bench.HasExactlyOneEffectOfEachAsync([message]);
        Assert.That(bench.Log, Has.Some.Contains("fenced"));
    }

    [TestCase(true)]
    [TestCase(false)]
    public async Task A_branch_that_a_killed_process_has_left_ends_as_its_list_says(bool isListed)
    {
        await bench.StartAsync();
        await bench.StopAsync();
        var worker = Guid.NewGuid();
        var queue = await ReadIdentityAsync();
        var branch = new WorkerBranch(queue, worker, 7);
        await InsertWorkerAsync(worker, isListed ? "{3,7}" : "{3}");
        await PrepareAsync(branch.Id);

        await bench.StartAsync();

        Assert.That(await bench.Data.CountRowsAsync(), Is.EqualTo(isListed ? 1 : 0));
        Assert.That(await bench.Data.CountPreparedAsync(), Is.Zero);
        Assert.That(await TestDatabases.ScalarAsync(bench.QueueConnection, $"SELECT count(*)::int FROM kit_worker WHERE id = '{worker}'"), Is.Zero);
    }

    [Test]
    public async Task A_branch_without_a_row_is_rolled_back()
    {
        await bench.StartAsync();
        await bench.StopAsync();
        await PrepareAsync(new WorkerBranch(await ReadIdentityAsync(), Guid.NewGuid(), 1).Id);

        await bench.StartAsync();

        Assert.That(await bench.Data.CountRowsAsync(), Is.Zero);
        Assert.That(await bench.Data.CountPreparedAsync(), Is.Zero);
    }

    /// <summary>Another endpoint of the queue's database can have its rows on a third server, whose branches this one does not see.</summary>
    [Test]
    public async Task The_row_of_a_worker_whose_branches_are_on_another_server_stays()
    {
        await bench.StartAsync();
        await bench.StopAsync();
        var worker = Guid.NewGuid();
        await TestDatabases.ExecuteAsync(bench.QueueConnection, $"INSERT INTO kit_worker (id, branches_on, open) VALUES ('{worker}', 1, '{{1}}')");

        await bench.StartAsync();

        Assert.That(await TestDatabases.ScalarAsync(bench.QueueConnection, $"SELECT count(*)::int FROM kit_worker WHERE id = '{worker}'"), Is.EqualTo(1));
    }

    [Test]
    public async Task A_branch_of_another_queue_is_left_alone()
    {
        var branch = new WorkerBranch(Guid.NewGuid(), Guid.NewGuid(), 1);
        await PrepareAsync(branch.Id);

        await bench.StartAsync();

        Assert.That(await bench.Data.CountPreparedAsync(), Is.EqualTo(1));
        var listed = (await new PreparedTransactions(bench.DataConnection).ReadAsync(CancellationToken.None)).Single();
        Assert.That(listed.Owner, Is.EqualTo(BranchOwner.AnotherServer));
    }

    [Test]
    public async Task A_flush_less_is_refused() => await Assert.ThatAsync(
        () => bench.StartAsync(configure: endpoint => endpoint.FlushLog(LogFlush.Last)),
        Throws.InvalidOperationException.With.Message.Contains("one PostgreSQL server"));

    [TestCase(true, "off")]
    [TestCase(true, "local")]
    [TestCase(false, "off")]
    public async Task A_server_whose_commits_do_not_wait_is_refused(bool ofQueue, string setting)
    {
        var connection = ofQueue ? bench.QueueConnection : bench.DataConnection;
        await TestDatabases.ExecuteAsync(
            connection, $"ALTER DATABASE {new NpgsqlConnectionStringBuilder(connection).Database} SET synchronous_commit = {setting}");

        await Assert.ThatAsync(() => bench.StartAsync(), Throws.InvalidOperationException.With.Message.Contains($"synchronous_commit = {setting}"));
    }

    [TestCase(true)]
    [TestCase(false)]
    public async Task A_list_of_hosts_is_refused(bool ofQueue)
    {
        var hosts = new NpgsqlConnectionStringBuilder(ofQueue ? bench.QueueConnection : bench.DataConnection) { TargetSessionAttributes = "primary" };
        hosts.Host = $"127.0.0.1:{hosts.Port},127.0.0.1:{hosts.Port}";

        await Assert.ThatAsync(
            () => bench.StartAsync(queue: ofQueue ? hosts.ConnectionString : null, data: ofQueue ? null : hosts.ConnectionString),
            Throws.InvalidOperationException.With.Message.Contains("list of hosts"));
    }

    /// <summary>A restored backup, for a test of a new version, whose configuration still names the real data.</summary>
    [Test]
    public async Task A_copy_of_the_queues_database_is_refused()
    {
        var original = new NpgsqlConnectionStringBuilder(bench.QueueConnection);
        await bench.StartAsync();
        await bench.StopAsync();
        await TestDatabases.ExecuteAsync(queueServer.ConnectionString, $"CREATE DATABASE copied TEMPLATE {original.Database}");
        await bench.StartAsync();
        await bench.StopAsync();

        await Assert.ThatAsync(
            () => bench.StartAsync(queue: new NpgsqlConnectionStringBuilder(original.ConnectionString) { Database = "copied" }.ConnectionString),
            Throws.InvalidOperationException.With.Message.Contains(NotTogether));
    }

    /// <summary>A base backup of either server has its identifier and, unless it was promoted, its timeline.</summary>
    [TestCase(true)]
    [TestCase(false)]
    public async Task A_clone_of_a_server_is_refused_and_its_origin_keeps_its_branches(bool ofQueue)
    {
        await bench.StartAsync();
        await bench.StopAsync();
        await using var clone = await PrivateClone.OfAsync(ofQueue ? queueServer : dataServer);
        await bench.StartAsync();
        await bench.StopAsync();
        var worker = Guid.NewGuid();
        await InsertWorkerAsync(worker, "{1}");
        await PrepareAsync(new WorkerBranch(await ReadIdentityAsync(), worker, 1).Id);

        await Assert.ThatAsync(
            () => ofQueue
                ? bench.StartAsync(queue: clone.ConnectionTo(bench.QueueConnection))
                : bench.StartAsync(data: clone.ConnectionTo(bench.DataConnection)),
            Throws.InvalidOperationException.With.Message.Contains(NotTogether));
        await bench.StartAsync();

        Assert.That(await bench.Data.CountRowsAsync(), Is.EqualTo(1));
        Assert.That(await bench.Data.CountPreparedAsync(), Is.Zero);
    }

    /// <summary>The clone was started first, so the origin, which runs, is the one that no longer belongs to the queue.</summary>
    [Test]
    public async Task An_origin_whose_clone_was_started_ends_nothing_any_more_and_says_so()
    {
        await bench.StartAsync(configure: endpoint => endpoint.RecoveryInterval = TimeSpan.FromMilliseconds(100));
        await using var clone = await PrivateClone.OfAsync(dataServer);
        await bench.StartAsync(data: clone.ConnectionTo(bench.DataConnection));

        await Eventually.HoldsAsync(() => bench.Log.Any(line => line.Contains(NotTogether, StringComparison.Ordinal)), "the origin's recovery is refused");
    }

    /// <summary>The standby that the server has to wait for is away, so whoever waits for it stands still.</summary>
    [Test]
    public async Task A_branch_waits_for_the_standby_although_its_handler_would_not()
    {
        await bench.StartAsync(async (context, cancellationToken) =>
        {
            await TwoPhaseBench.ExecuteAsync(await context.GetConnectionAsync(cancellationToken), "SET LOCAL synchronous_commit = local");
            await TwoServersBench.InsertAndSendAsync(context, cancellationToken);
        });
        await RequireStandbyAsync(dataServer, "absent");
        var messages = await bench.EnqueueAsync(1);

        await Eventually.HoldsAsync(
            async () => await TestDatabases.ScalarAsync(
                bench.DataConnection,
                "SELECT count(*)::int FROM pg_stat_activity WHERE wait_event = 'SyncRep' AND starts_with(query, 'PREPARE TRANSACTION')") == 1,
            "the prepare waits");
        Assert.That(await bench.Queue.CountAsync(CancellationToken.None), Is.EqualTo(1), "not decided");
        await RequireStandbyAsync(dataServer, "");
        await bench.DrainedAsync();
        await bench.HasExactlyOneEffectOfEachAsync(messages);
    }

    /// <summary>A time-out cancels the wait for the standby, and the server reports success with a warning.</summary>
    [TestCase(false)]
    [TestCase(true)]
    public async Task A_commit_that_stopped_waiting_for_the_standby_is_not_believed(bool ofQueue)
    {
        var (queue, data) = (new NpgsqlConnectionStringBuilder(bench.QueueConnection), new NpgsqlConnectionStringBuilder(bench.DataConnection));
        (ofQueue ? queue : data).CommandTimeout = 1;
        var isAway = new TaskCompletionSource();
        await bench.StartAsync(
            async (context, cancellationToken) =>
            {
                await isAway.Task;
                await TwoServersBench.InsertAndSendAsync(context, cancellationToken);
            },
            queue.ConnectionString, data.ConnectionString);
        var messages = await bench.EnqueueAsync(1);
        await RequireStandbyAsync(ofQueue ? queueServer : dataServer, "absent");
        try
        {
            isAway.SetResult();
            await Eventually.HoldsAsync(
                () => bench.Log.Any(line => line.Contains("stopped waiting for its standbys", StringComparison.Ordinal)), "the wait is cancelled");
            if (!ofQueue)
                Assert.That(await bench.Queue.CountAsync(CancellationToken.None), Is.EqualTo(1), "nothing is decided on a branch that no standby has");
            await RequireStandbyAsync(ofQueue ? queueServer : dataServer, "");
            await bench.DrainedAsync();
            await bench.HasExactlyOneEffectOfEachAsync(messages);
        }
        finally
        {
            await RequireStandbyAsync(ofQueue ? queueServer : dataServer, "");
        }
    }

    /// <summary>The driver keeps the answers of a prepared batch, so the first decision tells less than the second.</summary>
    [TestCase(1)]
    [TestCase(2)]
    public async Task A_worker_that_was_fenced_at_its_second_message_counts_no_attempt(int batch)
    {
        var attempts = new List<Guid>();
        await bench.StartAsync(
            async (context, cancellationToken) =>
            {
                attempts.Add(context.MessageId);
                if (attempts.Count == 1 + batch)
                    await TestDatabases.ExecuteAsync(bench.QueueConnection, "UPDATE kit_worker SET is_fenced = true");
                await TwoServersBench.InsertAndSendAsync(context, cancellationToken);
            },
            configure: endpoint => endpoint.LimitConcurrency(1).ReceiveInBatches(batch));
        var first = await bench.EnqueueAsync(batch);
        await bench.DrainedAsync();
        var second = await bench.EnqueueAsync(batch);
        await bench.DrainedAsync();

        await bench.HasExactlyOneEffectOfEachAsync([.. first, .. second]);
        Assert.That(bench.Log, Has.Some.Contains("fenced this worker"));
        Assert.That(attempts, Has.Count.EqualTo(3 * batch));
    }

    [Test]
    public async Task A_standby_that_nobody_waits_for_is_refused_or_accepted()
    {
        await using var standby = new PhysicalReplicationConnection(dataServer.ConnectionString);
        await standby.Open();

        await Assert.ThatAsync(() => bench.StartAsync(), Throws.InvalidOperationException.With.Message.Contains("synchronous_standby_names is empty"));
        var messages = await bench.EnqueueAsync(1);
        await bench.StartAsync(configure: endpoint => endpoint.AcceptAsynchronousStandbys());
        await bench.DrainedAsync();
        await bench.HasExactlyOneEffectOfEachAsync(messages);
    }

    private static async Task RequireStandbyAsync(PrivatePostgreSql server, string name)
    {
        await TestDatabases.ExecuteAsync(server.ConnectionString, $"ALTER SYSTEM SET synchronous_standby_names = '{name}'");
        await TestDatabases.ExecuteAsync(server.ConnectionString, "SELECT pg_reload_conf()");
    }

    /// <summary>The row of a worker whose process was killed.</summary>
    private async Task InsertWorkerAsync(Guid worker, string open)
    {
        await using var data = NpgsqlDataSource.Create(bench.DataConnection);
        var branchesOn = unchecked((long)(await QueueDatabase.ReadAsync(data, CancellationToken.None)).SystemIdentifier);
        await TestDatabases.ExecuteAsync(
            bench.QueueConnection, $"INSERT INTO kit_worker (id, branches_on, open) VALUES ('{worker}', {branchesOn}, '{open}')");
    }

    private async Task PrepareAsync(BranchId branch) => await TestDatabases.ExecuteAsync(
        bench.DataConnection,
        $"BEGIN; INSERT INTO widget VALUES ({Kit.Handlers.WidgetId.Next()}, '{Guid.NewGuid()}'); {branch.Prepare}");

    private async Task<Guid> ReadIdentityAsync()
    {
        await using var source = NpgsqlDataSource.Create(bench.QueueConnection);
        await using var read = source.CreateCommand("SELECT id FROM kit_queue_identity");
        return (Guid)(await read.ExecuteScalarAsync())!;
    }
}
