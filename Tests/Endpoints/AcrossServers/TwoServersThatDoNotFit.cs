using Kit.Endpoints.Bare;
using Kit.Endpoints.Bare.Health;
using Kit.Endpoints.Bare.PostgreSql.TwoPhase;
using Kit.Modes;
using Kit.Tests.TwoPhase;
using Npgsql;
using Npgsql.Replication;

namespace Kit.Tests.AcrossServers;

/// <summary>full-dtc on two servers refuses a pair that has not been started together, and servers whose commits can be lost.</summary>
[Exhaustive, Parallelizable]
public sealed class TwoServersThatDoNotFit : OnTwoServers
{
    private const string NotTogether = "did not take part together";

    [Test]
    public async Task A_flush_less_is_refused() => await Assert.ThatAsync(
        () => Bench.StartAsync(configure: endpoint => endpoint.FlushLog(LogFlush.Last)),
        Throws.InvalidOperationException.With.Message.Contains("one PostgreSQL server"));

    [TestCase(true, "off")]
    [TestCase(true, "local")]
    [TestCase(false, "off")]
    public async Task A_server_whose_commits_do_not_wait_is_refused(bool ofQueue, string setting)
    {
        var connection = ofQueue ? Bench.QueueConnection : Bench.DataConnection;
        await TestDatabases.ExecuteAsync(
            connection, $"ALTER DATABASE {new NpgsqlConnectionStringBuilder(connection).Database} SET synchronous_commit = {setting}");

        await Assert.ThatAsync(() => Bench.StartAsync(), Throws.InvalidOperationException.With.Message.Contains($"synchronous_commit = {setting}"));
    }

    [TestCase(true)]
    [TestCase(false)]
    public async Task A_list_of_hosts_is_refused(bool ofQueue)
    {
        var hosts = new NpgsqlConnectionStringBuilder(ofQueue ? Bench.QueueConnection : Bench.DataConnection) { TargetSessionAttributes = "primary" };
        hosts.Host = $"127.0.0.1:{hosts.Port},127.0.0.1:{hosts.Port}";

        await Assert.ThatAsync(
            () => Bench.StartAsync(queue: ofQueue ? hosts.ConnectionString : null, data: ofQueue ? null : hosts.ConnectionString),
            Throws.InvalidOperationException.With.Message.Contains("list of hosts"));
    }

    /// <summary>A restored backup, for a test of a new version, whose configuration still names the real data.</summary>
    [Test]
    public async Task A_copy_of_the_queues_database_is_refused()
    {
        var original = new NpgsqlConnectionStringBuilder(Bench.QueueConnection);
        await Bench.StartAsync();
        await Bench.StopAsync();
        await TestDatabases.ExecuteAsync(QueueServer.ConnectionString, $"CREATE DATABASE copied TEMPLATE {original.Database}");
        await Bench.StartAsync();
        await Bench.StopAsync();

        await Assert.ThatAsync(
            () => Bench.StartAsync(queue: new NpgsqlConnectionStringBuilder(original.ConnectionString) { Database = "copied" }.ConnectionString),
            Throws.InvalidOperationException.With.Message.Contains(NotTogether));
    }

    /// <summary>A base backup of either server has its identifier and, unless it was promoted, its timeline.</summary>
    [TestCase(true)]
    [TestCase(false)]
    public async Task A_clone_of_a_server_is_refused_and_its_origin_keeps_its_branches(bool ofQueue)
    {
        await Bench.StartAsync();
        await Bench.StopAsync();
        await using var clone = await PrivateClone.OfAsync(ofQueue ? QueueServer : DataServer);
        await Bench.StartAsync();
        await Bench.StopAsync();
        var worker = Guid.NewGuid();
        await InsertWorkerAsync(worker, "{1}");
        await PrepareAsync(new WorkerBranch(await ReadIdentityAsync(), worker, 1).Id);

        await Assert.ThatAsync(
            () => ofQueue
                ? Bench.StartAsync(queue: clone.ConnectionTo(Bench.QueueConnection))
                : Bench.StartAsync(data: clone.ConnectionTo(Bench.DataConnection)),
            Throws.InvalidOperationException.With.Message.Contains(NotTogether));
        await Bench.StartAsync();

        Assert.That(await Bench.Data.CountRowsAsync(), Is.EqualTo(1));
        Assert.That(await Bench.Data.CountPreparedAsync(), Is.Zero);
    }

    /// <summary>A backup of either server is restored next to its origin, which runs: every pass of recovery makes it older.</summary>
    [TestCase(true)]
    [TestCase(false)]
    public async Task A_clone_of_a_server_is_refused_while_its_origin_runs(bool ofQueue)
    {
        await Bench.StartAsync(configure: endpoint => endpoint.RecoveryInterval = TimeSpan.FromMilliseconds(100));
        await using var clone = await PrivateClone.OfAsync(ofQueue ? QueueServer : DataServer);
        // The one that was announced while the clone was made can be in it.
        await AnotherGenerationAsync();
        await AnotherGenerationAsync();

        await Assert.ThatAsync(
            () => ofQueue
                ? Bench.StartAsync(queue: clone.ConnectionTo(Bench.QueueConnection))
                : Bench.StartAsync(data: clone.ConnectionTo(Bench.DataConnection)),
            Throws.InvalidOperationException.With.Message.Contains(NotTogether));

        var messages = await Bench.EnqueueAsync(10);
        await Bench.DrainedAsync();
        await Bench.HasExactlyOneEffectOfEachAsync(messages);
    }

    /// <summary>The first start was killed when it had announced the generation in the queue's database, and had not written it in the handlers'.</summary>
    [Test]
    public async Task A_first_start_that_was_killed_is_made_again()
    {
        await Bench.StartAsync();
        await Bench.StopAsync();
        await TestDatabases.ExecuteAsync(Bench.QueueConnection, "UPDATE kit_queue_data SET next = generation");
        await TestDatabases.ExecuteAsync(Bench.DataConnection, "DELETE FROM kit_data_queue");

        var messages = await Bench.EnqueueAsync(10);
        await Bench.StartAsync();
        await Bench.DrainedAsync();
        await Bench.HasExactlyOneEffectOfEachAsync(messages);
    }

    /// <summary>A clone has the identifier of its origin, and another endpoint of the same queue's database can have its data there.</summary>
    [Test]
    public async Task The_rows_of_workers_are_not_deleted_by_an_endpoint_whose_data_is_on_a_clone_of_their_server()
    {
        await Bench.StartAsync();
        await Bench.StopAsync();
        await using var clone = await PrivateClone.OfAsync(DataServer);
        var another = new NpgsqlConnectionStringBuilder(clone.ConnectionTo(Bench.DataConnection)) { Database = "another" }.ConnectionString;
        await TestDatabases.ExecuteAsync(clone.ConnectionTo(Bench.DataConnection), "CREATE DATABASE another");
        var worker = Guid.NewGuid();
        await InsertWorkerAsync(worker, "{1}");
        await PrepareAsync(new WorkerBranch(await ReadIdentityAsync(), worker, 1).Id);

        await Bench.StartAsync(data: another);
        await Bench.StopAsync();
        await Bench.StartAsync();

        Assert.That(await Bench.Data.CountRowsAsync(), Is.EqualTo(1));
        Assert.That(await Bench.Data.CountPreparedAsync(), Is.Zero);
    }

    [TestCase("kit_worker")]
    [TestCase("kit_queue_data")]
    [TestCase("kit_queue_identity")]
    public async Task Tables_in_several_schemas_are_refused(string table)
    {
        await Bench.StartAsync();
        await Bench.StopAsync();
        await TestDatabases.ExecuteAsync(Bench.QueueConnection, $"CREATE SCHEMA other; ALTER TABLE {table} SET SCHEMA other");

        await Assert.ThatAsync(
            () => Bench.StartAsync(queue: new NpgsqlConnectionStringBuilder(Bench.QueueConnection) { SearchPath = "public, other" }.ConnectionString),
            Throws.InvalidOperationException.With.Message.Contains($"\"other\".{table}"));
    }

    [TestCase("DROP COLUMN participants")]
    [TestCase("DROP COLUMN participants, DROP COLUMN database")]
    public async Task A_table_of_an_earlier_version_is_refused_with_the_statement_that_upgrades_it(string version)
    {
        await Bench.StartAsync();
        await Bench.StopAsync();
        await TestDatabases.ExecuteAsync(Bench.QueueConnection, $"ALTER TABLE kit_worker {version}");

        var refusal = (await Assert.ThrowsAsync<InvalidOperationException>(() => Bench.StartAsync()))!.Message;

        await TestDatabases.ExecuteAsync(Bench.QueueConnection, refusal[refusal.IndexOf("ALTER TABLE", StringComparison.Ordinal)..]);
        var messages = await Bench.EnqueueAsync(10);
        await Bench.StartAsync();
        await Bench.DrainedAsync();
        await Bench.HasExactlyOneEffectOfEachAsync(messages);
    }

    /// <summary>
    /// A clone of the rows' server was started between two passes at the origin, which runs, and has left its generation in the queue's database: now the
    /// origin is the one that does not belong to the queue.
    /// </summary>
    [Test]
    public async Task An_origin_whose_clone_was_started_handles_and_ends_nothing_any_more_and_says_so()
    {
        EndpointStatus status = null!;
        await Bench.StartAsync(configure: endpoint =>
        {
            endpoint.RecoveryInterval = TimeSpan.FromMilliseconds(100);
            status = endpoint.Status;
        });
        await Eventually.HoldsAsync(
            async () =>
            {
                await TestDatabases.ExecuteAsync(Bench.QueueConnection, "UPDATE kit_queue_data SET generation = gen_random_uuid(), next = NULL");
                return Bench.Log.Any(line => line.StartsWith("Error: Nothing is handled", StringComparison.Ordinal));
            },
            "the origin's recovery is refused");
        Assert.That(status.Refusal(), Does.Contain(NotTogether));

        await Bench.EnqueueAsync(10);
        var worker = Guid.NewGuid();
        await InsertWorkerAsync(worker, "{1}");
        await PrepareAsync(new WorkerBranch(await ReadIdentityAsync(), worker, 1).Id);
        await Eventually.HoldsAsync(
            () => Bench.Log.Any(line => line.Contains(NotTogether, StringComparison.Ordinal) && line.EndsWith("Next try in 0.4 s.", StringComparison.Ordinal)),
            "a worker was refused four times in a row");

        Assert.That(await Bench.Queue.CountAsync(CancellationToken.None), Is.EqualTo(10));
        Assert.That(await Bench.Data.CountPreparedAsync(), Is.EqualTo(1));
        Assert.That(await Bench.Queue.ReadErrorsAsync(CancellationToken.None), Is.Empty);
    }

    [Test]
    public async Task A_standby_that_nobody_waits_for_is_refused_or_accepted()
    {
        await using var standby = new PhysicalReplicationConnection(DataServer.ConnectionString);
        await standby.Open();

        await Assert.ThatAsync(() => Bench.StartAsync(), Throws.InvalidOperationException.With.Message.Contains("does not wait for 1 of the standbys"));
        var messages = await Bench.EnqueueAsync(1);
        await Bench.StartAsync(configure: endpoint => endpoint.AcceptAsynchronousStandbys());
        await Bench.DrainedAsync();
        await Bench.HasExactlyOneEffectOfEachAsync(messages);
    }

    /// <summary>A failover can promote the one that a commit did not wait for, though both are named.</summary>
    [TestCase("s1, s2", false)]
    [TestCase("ANY 1 (s1, s2)", false)]
    [TestCase("FIRST 2 (s1, s2)", true)]
    [TestCase("any 2(s1, s2)", true)]
    public async Task Standbys_that_are_named_are_refused_unless_a_commit_waits_for_each(string names, bool isAccepted)
    {
        await using var first = await AttachedStandby.StartAsync(DataServer, "s1");
        await using var second = await AttachedStandby.StartAsync(DataServer, "s2");
        try
        {
            await TestDatabases.ExecuteAsync(DataServer.ConnectionString, $"ALTER SYSTEM SET synchronous_standby_names = '{names}'");
            await TestDatabases.ExecuteAsync(DataServer.ConnectionString, "SELECT pg_reload_conf()");
            await Eventually.HoldsAsync(
                async () => await TestDatabases.ScalarAsync(
                    DataServer.ConnectionString,
                    "SELECT count(*)::int FROM pg_stat_replication WHERE sync_state <> 'async' AND pg_logical_emit_message(false, 'kit', '') IS NOT NULL") == 2,
                "both are named");

            if (isAccepted)
                await Assert.ThatAsync(() => Bench.StartAsync(), Throws.Nothing);
            else
                await Assert.ThatAsync(() => Bench.StartAsync(), Throws.InvalidOperationException.With.Message.Contains("does not wait for 1 of the standbys"));
        }
        finally
        {
            await TestDatabases.ExecuteAsync(DataServer.ConnectionString, "ALTER SYSTEM RESET synchronous_standby_names");
            await TestDatabases.ExecuteAsync(DataServer.ConnectionString, "SELECT pg_reload_conf()");
        }
    }

    /// <summary>Each role finds the table of its own schema, and would refuse the other's mark as that of a copy.</summary>
    [TestCase(true)]
    [TestCase(false)]
    public async Task Endpoints_whose_roles_find_different_tables_in_the_data_are_refused_with_the_reason(bool isReadable)
    {
        await Bench.StartAsync();
        var role = $"of_{Guid.NewGuid():N}";
        await TestDatabases.ExecuteAsync(
            Bench.DataConnection,
            $"CREATE ROLE {role} LOGIN PASSWORD 'secret'; CREATE SCHEMA {role} AUTHORIZATION {role}; " +
            $"GRANT SELECT ON kit_data_queue TO {(isReadable ? role : "CURRENT_USER")}");
        var other = new NpgsqlConnectionStringBuilder(Bench.DataConnection) { Username = role, Password = "secret", SearchPath = role };

        for (var start = 1; start <= 2; start++)
        {
            await Assert.ThatAsync(
                () => Bench.StartAsync(data: other.ConnectionString),
                Throws.InvalidOperationException.With.Message.Contains("use public.kit_data_queue").And.Not.Message.Contains("DELETE"));
        }
    }

    [TestCase(true)]
    [TestCase(false)]
    public async Task A_server_that_flushes_nothing_is_refused(bool ofQueue)
    {
        var server = ofQueue ? QueueServer : DataServer;
        try
        {
            await TestDatabases.ExecuteAsync(server.ConnectionString, "ALTER SYSTEM SET fsync = off");
            await TestDatabases.ExecuteAsync(server.ConnectionString, "SELECT pg_reload_conf()");

            await Assert.ThatAsync(() => Bench.StartAsync(), Throws.InvalidOperationException.With.Message.Contains("fsync = off"));
        }
        finally
        {
            await TestDatabases.ExecuteAsync(server.ConnectionString, "ALTER SYSTEM RESET fsync");
            await TestDatabases.ExecuteAsync(server.ConnectionString, "SELECT pg_reload_conf()");
        }
    }

    [Test]
    public async Task A_standby_that_comes_later_is_reported()
    {
        EndpointStatus status = null!;
        await Bench.StartAsync(configure: endpoint =>
        {
            endpoint.RecoveryInterval = TimeSpan.FromMilliseconds(10);
            status = endpoint.Status;
        });
        await using var standby = new PhysicalReplicationConnection(DataServer.ConnectionString);
        await standby.Open();

        await Eventually.HoldsAsync(
            () => Bench.Log.Any(line => line.Contains("does not wait for 1 of the standbys", StringComparison.Ordinal)), "it is logged");
        Assert.That(status.Missing(), Does.Contain("synchronous_standby_names"));
    }

    /// <summary>A subscriber is never promoted.</summary>
    [Test]
    public async Task A_logical_subscriber_is_no_standby()
    {
        await TestDatabases.ExecuteAsync(DataServer.ConnectionString, "ALTER SYSTEM SET wal_level = logical");
        await DataServer.RestartAsync(CancellationToken.None);
        try
        {
            await using var subscriber = new LogicalReplicationConnection(Bench.DataConnection);
            await subscriber.Open();
            await subscriber.CreatePgOutputReplicationSlot("subscriber", temporarySlot: true);

            await Assert.ThatAsync(() => Bench.StartAsync(), Throws.Nothing);
        }
        finally
        {
            await TestDatabases.ExecuteAsync(DataServer.ConnectionString, "ALTER SYSTEM RESET wal_level");
            await DataServer.RestartAsync(CancellationToken.None);
        }
    }

    private async Task AnotherGenerationAsync()
    {
        var before = await ReadAsync();
        await Eventually.HoldsAsync(async () => await ReadAsync() != before, "recovery has begun another generation");

        Task<int> ReadAsync() => TestDatabases.ScalarAsync(Bench.QueueConnection, "SELECT hashtext(generation::text) FROM kit_queue_data");
    }
}
