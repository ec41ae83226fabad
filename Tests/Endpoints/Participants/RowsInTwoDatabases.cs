using Kit.Endpoints.Bare;
using Kit.Endpoints.Bare.Health;
using Kit.Endpoints.Bare.PostgreSql.TwoPhase;
using Kit.Modes;
using Kit.Runner.Results.Points;
using Kit.Runner.Wire;
using Kit.Tests.AcrossServers;
using Kit.Tests.TwoPhase;
using Npgsql;

namespace Kit.Tests.Participants;

/// <summary>full-dtc whose handlers have a second database, on a third server.</summary>
[Parallelizable]
public sealed class RowsInTwoDatabases : OnThreeServers
{
    private static readonly TimeSpan Soon = TimeSpan.FromMilliseconds(100);

    [TestCase("full-dtc")]
    [TestCase("full-dtc-waiting", Category = ExhaustiveAttribute.Category)]
    public async Task Each_message_has_one_row_in_each_and_the_rows_of_workers_that_have_ended_are_deleted(string mode)
    {
        var messages = await Bench.EnqueueAsync(30);
        await StartAsync(configure: endpoint => endpoint.UseTransactionMode(TransactionMode.Parse(mode)));
        await DrainedAsync();
        await Bench.StopAsync();

        await HasExactlyOneEffectOfEachAsync(messages);
        await StartAsync(configure: endpoint => endpoint.LimitConcurrency(1));
        await Eventually.HoldsAsync(async () => await Bench.CountWorkersAsync() == 1, "only the living worker has a row");
        Assert.That(Bench.Log, Is.Empty);
    }

    [Test]
    public async Task A_handler_may_use_one_of_them_and_is_lent_one_connection_of_each()
    {
        var messages = await Bench.EnqueueAsync(20);
        var ofBilling = new HashSet<Guid>();
        await StartAsync(async (context, cancellationToken) =>
        {
            if (ofBilling.Count < 10 && ofBilling.Add(context.MessageId))
            {
                var first = await context.GetConnectionAsync(Participant, cancellationToken);
                Assert.That(await context.GetConnectionAsync(Participant, cancellationToken), Is.SameAs(first));
                Assert.That((await context.GetTransactionAsync(Participant, cancellationToken))!.Connection, Is.SameAs(first));
                await InsertInBillingAsync(context, cancellationToken);
            }
            else
            {
                await TwoPhaseBench.InsertAsync(context, cancellationToken);
            }
        },
        configure: endpoint => endpoint.LimitConcurrency(1));
        await DrainedAsync();

        Assert.That(await Billing.ReadRowsByMessageAsync(), Is.EquivalentTo(ofBilling.ToDictionary(message => message, _ => 1)));
        Assert.That(await Bench.Data.ReadRowsByMessageAsync(), Is.EquivalentTo(messages.Except(ofBilling).ToDictionary(message => message, _ => 1)));
    }

    /// <summary>The queue's own database as the participant, and both next to the rows' on one server.</summary>
    [Test]
    public async Task All_can_be_on_one_server()
    {
        await TestDatabases.ExecuteAsync(Bench.QueueConnection, "CREATE TABLE widget (id bigint PRIMARY KEY, message_id uuid NOT NULL)");
        var messages = await Bench.EnqueueAsync(20);
        await Bench.StartAsync(
            InsertInBothAsync, data: Bench.Queues.Widgets, configure: endpoint => endpoint.AddParticipant(Participant, Bench.QueueConnection));
        await Eventually.HoldsAsync(
            async () => await Bench.Queue.CountAsync(CancellationToken.None) == 0 && await Bench.Queues.CountPreparedAsync() == 0,
            "the queue is empty and nothing is prepared");

        Assert.That(await Bench.Queues.ReadRowsByMessageAsync(), Is.EquivalentTo(messages.ToDictionary(message => message, _ => 1)));
        Assert.That(
            await TestDatabases.ScalarAsync(Bench.QueueConnection, "SELECT (count(*) * 1000 + count(DISTINCT message_id))::int FROM widget"),
            Is.EqualTo(messages.Count * 1_001));
        Assert.That(Bench.Log, Is.Empty);
    }

    [Test]
    public async Task A_name_that_there_is_not_fails_the_attempt_and_the_known_ones_are_named()
    {
        await Bench.EnqueueAsync(1);
        await StartAsync(
            async (context, cancellationToken) => await context.GetConnectionAsync("stock", cancellationToken),
            configure: endpoint => endpoint.AddParticipant("archive", Bench.Queues.Widgets));
        await DrainedAsync();

        var error = (await Bench.Queue.ReadErrorsAsync(CancellationToken.None)).Single();
        Assert.That(error.Reason, Does.Contain("no participant 'stock'").And.Contain("billing, archive"));
    }

    /// <summary>A deferred constraint is checked at the prepare.</summary>
    [TestCase(true)]
    [TestCase(false, Category = ExhaustiveAttribute.Category)]
    public async Task A_prepare_that_fails_rolls_the_other_branch_back(bool ofParticipant)
    {
        await Bench.EnqueueAsync(1);
        await TestDatabases.RefuseCommitsAsync(ofParticipant ? BillingConnection : Bench.DataConnection);
        await StartAsync();
        await DrainedAsync();

        var error = (await Bench.Queue.ReadErrorsAsync(CancellationToken.None)).Single();
        Assert.That(error.Reason, Does.Contain("foreign key"));
        Assert.That((await Bench.Data.CountRowsAsync(), await Billing.CountRowsAsync(), await Bench.CountSendsAsync()), Is.EqualTo((0, 0, 0)));
    }

    /// <summary>Recovery of another process finds the branch that is prepared, and whose worker still waits for the other prepare.</summary>
    [Test]
    public async Task A_prepare_that_takes_longer_than_recovery_waits_costs_no_attempt()
    {
        await TestDatabases.ExecuteAsync(
            Bench.DataConnection,
            """
            CREATE TABLE gate ();
            CREATE FUNCTION wait() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN PERFORM FROM gate; RETURN NULL; END $$;
            CREATE CONSTRAINT TRIGGER waits AFTER INSERT ON widget DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION wait();
            """);
        await using var holder = new NpgsqlConnection(Bench.DataConnection);
        await holder.OpenAsync();
        await using var gate = await holder.BeginTransactionAsync();
        await using (var close = new NpgsqlCommand("LOCK TABLE gate", holder, gate))
            await close.ExecuteNonQueryAsync();
        var (attempts, processes) = (0, new List<EndpointStatus>());
        await StartOneAsync();
        var messages = await Bench.EnqueueAsync(1);
        await Eventually.HoldsAsync(async () => await Billing.CountPreparedAsync() == 1, "one branch is prepared");

        await StartOneAsync();
        Assert.That(await Billing.CountPreparedAsync(), Is.EqualTo(1), "recovery of the second process has left it alone");
        await Eventually.HoldsAsync(
            async () => await TestDatabases.ScalarAsync(
                BillingConnection, "SELECT count(*)::int FROM pg_prepared_xacts WHERE prepared < clock_timestamp() - interval '1 s'") == 1,
            "it stays prepared for longer than several passes");
        Assert.That(processes.Select(status => status.Branches()), Is.All.Zero, "branches that an operator must end");
        await gate.RollbackAsync();
        await DrainedAsync();

        await HasExactlyOneEffectOfEachAsync(messages);
        Assert.That(attempts, Is.EqualTo(1));
        // Both processes may end the decided branch: who is second is told that it does not exist.
        Assert.That(Bench.Log.Where(line => !line.Contains(PostgresErrorCodes.UndefinedObject, StringComparison.Ordinal)), Is.Empty);

        Task StartOneAsync() => StartAsync(
            async (context, cancellationToken) =>
            {
                Interlocked.Increment(ref attempts);
                await InsertInBothAsync(context, cancellationToken);
            },
            configure: endpoint =>
            {
                endpoint.LimitConcurrency(1).RecoveryInterval = Soon;
                processes.Add(endpoint.Status);
            });
    }

    /// <summary>The answer to one prepare is lost, so that only recovery can know that branch.</summary>
    [TestCase(PointWay.Cut)]
    [TestCase(PointWay.CutBefore, Category = ExhaustiveAttribute.Category)]
    public async Task A_prepare_in_doubt_is_no_decision(PointWay way)
    {
        await using var proxy = new GatedPostgreSql(BillingConnection);
        proxy.Arm(new MarkedRequest { Text = MarkedRequest.Prepare }, way);
        await StartAsync(billing: proxy.Through, configure: endpoint => endpoint.RecoveryInterval = Soon);
        var messages = await Bench.EnqueueAsync(1);
        await proxy.FiredAsync();
        await DrainedAsync();

        await HasExactlyOneEffectOfEachAsync(messages);
    }

    /// <summary>Only the queue's server knows whether it decided, and each branch ends as it says.</summary>
    [TestCase(Traffic.ToClient)]
    [TestCase(Traffic.ToServer)]
    public async Task A_decision_in_doubt_ends_both_branches_in_one_way(Traffic lost)
    {
        await using var proxy = new FaultProxy("127.0.0.1", new NpgsqlConnectionStringBuilder(Bench.QueueConnection).Port);
        var attempts = 0;
        await StartAsync(
            async (context, cancellationToken) =>
            {
                await TwoPhaseBench.InsertAsync(context, cancellationToken);
                await InsertInBillingAsync(context, cancellationToken);
                if (Interlocked.Increment(ref attempts) == 1)
                    proxy.Stall(lost);
            },
            configure: endpoint => endpoint.LimitConcurrency(1).RecoveryInterval = Soon,
            queue: new NpgsqlConnectionStringBuilder(Bench.QueueConnection) { Port = proxy.Port }.ConnectionString);
        var message = (await Bench.EnqueueAsync(1)).Single();
        await Eventually.HoldsAsync(
            async () => await Bench.Data.CountPreparedAsync() == 1 && await Billing.CountPreparedAsync() == 1, "both branches are prepared");
        if (lost is Traffic.ToClient)
            await Eventually.HoldsAsync(async () => await Bench.Queue.CountAsync(CancellationToken.None) == 0, "it is decided, and not answered");
        await proxy.EndAllAsync(Ending.Reset);
        proxy.Resume(lost);
        await DrainedAsync();

        Assert.That(attempts, Is.EqualTo(lost is Traffic.ToClient ? 1 : 2));
        Assert.That((await Bench.Data.CountRowsAsync(message), await Billing.CountRowsAsync(message)), Is.EqualTo((1, 1)));
        Assert.That((await Bench.Data.CountRowsAsync(), await Billing.CountRowsAsync()), Is.EqualTo((1, 1)));
    }

    /// <summary>The second phase of one branch is cut off, and its recovery comes too seldom to end it.</summary>
    [Test]
    public async Task A_number_stays_in_the_list_until_all_its_branches_have_ended()
    {
        await using var proxy = new GatedPostgreSql(BillingConnection);
        proxy.Arm(new MarkedRequest { Text = MarkedRequest.CommitPrepared }, PointWay.CutBefore);
        var handled = 0;
        await StartAsync(
            async (context, cancellationToken) =>
            {
                await TwoServersBench.InsertAndSendAsync(context, cancellationToken);
                if (handled++ == 0)
                    await InsertInBillingAsync(context, cancellationToken);
            },
            proxy.Through,
            endpoint => endpoint.LimitConcurrency(1).RecoveryInterval = TimeSpan.FromHours(1));
        var first = await Bench.EnqueueAsync(1);
        await proxy.FiredAsync();
        await Eventually.HoldsAsync(() => Bench.Log.Any(line => line.Contains("left to recovery", StringComparison.Ordinal)), "its end is left to recovery");
        await Bench.DrainedAsync();
        for (var next = 0; next < 2; next++)
        {
            await Bench.EnqueueAsync(1);
            await Bench.DrainedAsync();
        }

        Assert.That(await TestDatabases.ScalarAsync(Bench.QueueConnection, "SELECT (1 = ANY (open))::int FROM kit_worker WHERE open <> '{}'"), Is.EqualTo(1));
        Assert.That(await Billing.CountPreparedAsync(), Is.EqualTo(1));
        await Bench.StopAsync();
        await StartAsync();
        Assert.That(await Billing.CountPreparedAsync(), Is.Zero);
        Assert.That(await Billing.CountRowsAsync(first.Single()), Is.EqualTo(1));
    }

    /// <summary>The process was killed between the prepares, before or after the decision, or between the second phases.</summary>
    [TestCase("{3,7}", true, true)]
    [TestCase("{3}", true, true)]
    [TestCase("{3}", false, true, Category = ExhaustiveAttribute.Category)]
    [TestCase("{3,7}", false, true)]
    [TestCase("{3,7}", true, false, Category = ExhaustiveAttribute.Category)]
    public async Task Branches_that_a_killed_process_has_left_end_as_its_list_says(string open, bool inData, bool inBilling)
    {
        await StartAsync();
        await Bench.StopAsync();
        var worker = Guid.NewGuid();
        await InsertWorkerOfBothAsync(worker, open);
        var branch = new WorkerBranch(await ReadIdentityAsync(), worker, 7);
        if (inData)
            await PrepareAsync(branch.Id);
        if (inBilling)
            await PrepareInBillingAsync((branch with { Participant = Participant }).Id);

        await StartAsync();

        var isListed = open.Contains('7', StringComparison.Ordinal);
        Assert.That(await Bench.Data.CountRowsAsync(), Is.EqualTo(isListed && inData ? 1 : 0));
        Assert.That(await Billing.CountRowsAsync(), Is.EqualTo(isListed && inBilling ? 1 : 0));
        Assert.That((await Bench.Data.CountPreparedAsync(), await Billing.CountPreparedAsync()), Is.EqualTo((0, 0)));
        Assert.That(await CountWorkersAsync(worker), Is.Zero);
    }

    /// <summary>Its earlier database is on a server of which the endpoint has another one.</summary>
    [Test]
    public async Task A_branch_in_the_database_that_a_participant_had_before_ends_as_its_list_says()
    {
        var before = Bench.Data.Queue;
        await StartAsync(billing: before);
        await Bench.StopAsync();
        var worker = Guid.NewGuid();
        await InsertWorkerOfBothAsync(worker, "{7}", before);
        var branch = new WorkerBranch(await ReadIdentityAsync(), worker, 7, Participant).Id;
        await TestDatabases.ExecuteAsync(before, "CREATE TABLE decided (number int)");
        await TestDatabases.ExecuteAsync(before, $"BEGIN; INSERT INTO decided VALUES (7); {branch.Prepare}");
        // In a minute its own recovery would have ended it.
        await TestDatabases.ExecuteAsync(
            Bench.DataConnection,
            "CREATE FUNCTION clock_timestamp() RETURNS timestamptz LANGUAGE sql AS $$ SELECT pg_catalog.clock_timestamp() + interval '1 hour' $$");

        await Bench.StartAsync(
            data: new NpgsqlConnectionStringBuilder(Bench.DataConnection) { SearchPath = "public, pg_catalog" }.ConnectionString,
            configure: endpoint => endpoint.AddParticipant(Participant, BillingConnection));

        Assert.That(await Bench.Data.CountPreparedAsync(), Is.Zero);
        Assert.That(await TestDatabases.ScalarAsync(before, "SELECT count(*)::int FROM decided"), Is.EqualTo(1));
    }

    /// <summary>Its columns are those of the earlier version, which knows one database.</summary>
    [Test]
    public async Task A_branch_of_an_endpoint_without_the_participant_ends_as_its_list_says()
    {
        await StartAsync();
        await Bench.StopAsync();
        var worker = Guid.NewGuid();
        await InsertWorkerAsync(worker, "{7}");
        await PrepareAsync(new WorkerBranch(await ReadIdentityAsync(), worker, 7).Id);

        await StartAsync();

        Assert.That(await Bench.Data.CountRowsAsync(), Is.EqualTo(1));
        Assert.That(await CountWorkersAsync(worker), Is.Zero);
    }

    [Test]
    public async Task While_a_participant_is_away_the_branches_of_the_other_end_and_the_row_of_the_worker_stays()
    {
        await using var proxy = new FaultProxy("127.0.0.1", new NpgsqlConnectionStringBuilder(BillingConnection).Port);
        await StartAsync(
            billing: new NpgsqlConnectionStringBuilder(BillingConnection) { Port = proxy.Port }.ConnectionString,
            configure: endpoint => endpoint.RecoveryInterval = Soon);
        proxy.RefuseConnections();
        await proxy.EndAllAsync(Ending.Reset);
        var worker = Guid.NewGuid();
        await InsertWorkerOfBothAsync(worker, "{7}");
        var branch = new WorkerBranch(await ReadIdentityAsync(), worker, 7);
        await PrepareInBillingAsync((branch with { Participant = Participant }).Id);
        await PrepareAsync(branch.Id);

        await Eventually.HoldsAsync(async () => await Bench.Data.CountRowsAsync() == 1, "the branch that can be reached is committed");
        var passes = Named();
        await Eventually.HoldsAsync(() => Named() >= passes + 3, "recovery says three times which it cannot reach");
        Assert.That(await CountWorkersAsync(worker), Is.EqualTo(1));
        Assert.That(await Billing.CountPreparedAsync(), Is.EqualTo(1));

        proxy.AcceptConnections();
        await Eventually.HoldsAsync(async () => await Billing.CountRowsAsync() == 1, "the other is committed");
        await Eventually.HoldsAsync(async () => await CountWorkersAsync(worker) == 0, "the row is deleted");

        int Named() => Bench.Log.Count(line => line.Contains("participant 'billing' are not looked after", StringComparison.Ordinal));
    }

    /// <summary>Nothing else would fail, and the message would end without its rows there.</summary>
    [Test]
    public async Task A_refused_connection_that_the_handler_swallows_is_no_success_and_no_attempt()
    {
        var refused = 0;
        await StartAsync(async (context, cancellationToken) =>
        {
            await TwoServersBench.InsertAndSendAsync(context, cancellationToken);
            try
            {
                await InsertInBillingAsync(context, cancellationToken);
            }
            catch (PostgresException)
            {
                Interlocked.Increment(ref refused);
            }
        });
        await Billing.AllowConnectionsToWidgetsAsync(false);
        var messages = await Bench.EnqueueAsync(1);
        await Eventually.HoldsAsync(() => Volatile.Read(ref refused) > 3, "it was refused more often than a message may fail");
        await Billing.AllowConnectionsToWidgetsAsync(true);
        await DrainedAsync();

        await HasExactlyOneEffectOfEachAsync(messages);
    }

    /// <summary>A process of an earlier configuration, or of a later one, runs next to it.</summary>
    [Test]
    public async Task A_process_without_the_participant_deletes_no_row_of_a_worker_that_can_have_branches_there_and_says_so()
    {
        await StartAsync();
        await Bench.StopAsync();
        var worker = Guid.NewGuid();
        await InsertWorkerOfBothAsync(worker, "{7}");
        await PrepareInBillingAsync((new WorkerBranch(await ReadIdentityAsync(), worker, 7) with { Participant = Participant }).Id);
        EndpointStatus status = null!;

        await Bench.StartAsync(configure: endpoint =>
        {
            endpoint.RecoveryInterval = Soon;
            status = endpoint.Status;
        });
        var said = Bench.Log.Single(line => line.StartsWith("Error", StringComparison.Ordinal));
        Assert.That(said, Does.Contain("participant 'billing'").And.Contain($":{new NpgsqlConnectionStringBuilder(BillingConnection).Port}"));
        Assert.That(status.Removed(), Is.Not.Null);
        Assert.That(await CountWorkersAsync(worker), Is.EqualTo(1));
        await Bench.StopAsync();

        await StartAsync();
        Assert.That(await Billing.CountRowsAsync(), Is.EqualTo(1));
        Assert.That(await CountWorkersAsync(worker), Is.Zero);
        Assert.That(Bench.Log, Has.Count.EqualTo(1));
    }

    [Test]
    public async Task A_process_says_so_when_another_adds_a_participant()
    {
        EndpointStatus status = null!;
        await Bench.StartAsync(configure: endpoint =>
        {
            endpoint.RecoveryInterval = Soon;
            status = endpoint.Status;
        });
        Assert.That(status.Removed(), Is.Null);

        await StartAsync();

        await Eventually.HoldsAsync(() => status.Removed() is not null, "it is degraded");
        Assert.That(Bench.Log.Single(), Does.StartWith("Error").And.Contain("participant 'billing'"));
    }

    [TestCase("full-dtc")]
    [TestCase("dtc-off")]
    public async Task A_removed_participant_is_named_until_the_operator_has_looked(string mode)
    {
        await StartAsync();
        await Bench.StopAsync();
        var worker = Guid.NewGuid();
        await InsertWorkerOfBothAsync(worker, "{7}");
        EndpointStatus status = null!;
        await Bench.StartAsync(configure: endpoint =>
        {
            endpoint.UseTransactionMode(TransactionMode.Parse(mode)).RecoveryInterval = Soon;
            status = endpoint.Status;
        });

        var removed = status.Removed()!;
        Assert.That(removed, Does.Contain("participant 'billing'"));
        foreach (var statement in removed.Split("Then run ").Skip(1))
            await TestDatabases.ExecuteAsync(Bench.QueueConnection, statement[..statement.IndexOf('.', StringComparison.Ordinal)]);
        await Eventually.HoldsAsync(() => status.Removed() is null, "it is forgotten");
        if (mode == "full-dtc")
            await Eventually.HoldsAsync(async () => await CountWorkersAsync(worker) == 0, "the rows of its workers are deleted");
    }
}
