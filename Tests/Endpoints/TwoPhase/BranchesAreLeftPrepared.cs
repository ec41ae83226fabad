using System.Diagnostics;
using Kit.Endpoints.Bare.PostgreSql.TwoPhase;
using Npgsql;

namespace Kit.Tests.TwoPhase;

/// <summary>Recovery, with branches prepared by hand.</summary>
[Parallelizable]
public sealed class BranchesAreLeftPrepared
{
    private TestDatabases databases = null!;
    private NpgsqlDataSource queues = null!;
    private NpgsqlDataSource widgets = null!;
    private QueueDatabase queue;
    private WarningsOfAHost log = null!;

    [SetUp]
    public async Task SetUp()
    {
        log = new WarningsOfAHost();
        databases = await TestDatabases.CreateAsync();
        queues = NpgsqlDataSource.Create(databases.Queue);
        widgets = NpgsqlDataSource.Create(databases.Widgets);
        queue = await QueueDatabase.ReadAsync(queues, CancellationToken.None);
    }

    [TearDown]
    public async Task TearDown()
    {
        log.Dispose();
        await databases.RollBackPreparedAsync();
        await queues.DisposeAsync();
        await widgets.DisposeAsync();
        await databases.DisposeAsync();
    }

    [Test]
    public async Task Those_whose_receive_committed_are_committed()
    {
        await PrepareAsync(new ReceivesAsDecisions(queue).BranchOf(await queues.DecideAsync("COMMIT")));

        Assert.That(await RecoverAsync(), Is.EqualTo(1));
        Assert.That(await databases.CountRowsAsync(), Is.EqualTo(1));
        Assert.That(await databases.CountPreparedAsync(), Is.Zero);
    }

    [Test]
    public async Task Those_whose_receive_was_rolled_back_are_rolled_back()
    {
        await PrepareAsync(new ReceivesAsDecisions(queue).BranchOf(await queues.DecideAsync("ROLLBACK")));

        Assert.That(await RecoverAsync(), Is.EqualTo(1));
        Assert.That(await databases.CountRowsAsync(), Is.Zero);
        Assert.That(await databases.CountPreparedAsync(), Is.Zero);
    }

    [Test]
    public async Task Those_whose_receive_is_undecided_are_left_alone_until_it_is_decided()
    {
        await using var connection = await queues.OpenConnectionAsync();
        await using var receive = await connection.BeginTransactionAsync();
        await PrepareAsync(new ReceivesAsDecisions(queue).BranchOf(await connection.TransactionIdAsync()));

        Assert.That(await RecoverAsync(), Is.Zero);
        Assert.That(await databases.CountPreparedAsync(), Is.EqualTo(1));

        await receive.CommitAsync();
        Assert.That(await RecoverAsync(), Is.EqualTo(1));
        Assert.That(await databases.CountRowsAsync(), Is.EqualTo(1));
    }

    [Test]
    public async Task Young_ones_are_left_to_their_own_second_phase()
    {
        await PrepareAsync(new ReceivesAsDecisions(queue).BranchOf(await queues.DecideAsync("COMMIT")));

        Assert.That(await RecoverAsync(olderThan: TimeSpan.FromMinutes(1)), Is.Zero);
        Assert.That(await databases.CountPreparedAsync(), Is.EqualTo(1));
        await RecoverAsync();
    }

    [Test]
    public async Task Those_whose_decision_the_server_does_not_know_are_left_alone()
    {
        var branch = new ReceivesAsDecisions(queue).BranchOf(ulong.MaxValue / 4);
        await PrepareAsync(branch);

        Assert.That(await RecoverAsync(), Is.Zero);
        Assert.That(await databases.CountPreparedAsync(), Is.EqualTo(1));
        await EndAsync(branch.ToString());
    }

    // The ids are those of the whole server, and other tests prepare there at the same time.
    [TestCase("kit/1/2/30", TestName = "Those_of_another_cluster_are_left_alone_and_reported_once")]
    [TestCase("somebody else's branch", TestName = "Those_of_others_are_left_alone_and_reported_once")]
    public async Task Foreign(string globalId)
    {
        await PrepareAsync(globalId);
        var recovery = Recovery();

        Assert.That(await recovery.RunAsync(TimeSpan.Zero, CancellationToken.None), Is.Zero);
        Assert.That(await recovery.RunAsync(TimeSpan.Zero, CancellationToken.None), Is.Zero);
        Assert.That(await databases.CountPreparedAsync(), Is.EqualTo(1));
        Assert.That(Reports().Single(), Does.StartWith("Warning").And.Contain($"'{globalId}' of role kit").And.Contain("command 'branches'"));
        await EndAsync(globalId);
    }

    /// <summary>The handlers' database was another one before, or another endpoint of the queue's database has it.</summary>
    [Test]
    public async Task Those_of_this_queue_database_that_lie_in_another_database_are_ended_when_nobody_else_has_ended_them()
    {
        await TestDatabases.ExecuteAsync(databases.Queue, "CREATE TABLE widget (id bigint, message_id uuid)");
        var branch = new ReceivesAsDecisions(queue).BranchOf(await queues.DecideAsync("COMMIT"));
        await PrepareAsync(branch.ToString(), databases.Queue);
        await TestDatabases.ExecuteAsync(
            databases.Widgets,
            """
            CREATE SCHEMA later;
            CREATE FUNCTION later.clock_timestamp() RETURNS timestamptz LANGUAGE sql AS $$ SELECT pg_catalog.clock_timestamp() + interval '1 hour' $$
            """);
        await using var later = NpgsqlDataSource.Create(
            new NpgsqlConnectionStringBuilder(databases.Widgets) { SearchPath = "later, pg_catalog, public" });

        Assert.That(await RecoverAsync(), Is.Zero, "its own endpoint may be about to end it");
        var recovery = new Recovery(
            later, new ReceivesAsDecisions(queue), log,
            elsewhere: database => NpgsqlDataSource.Create(new NpgsqlConnectionStringBuilder(databases.Queue) { Database = database }));
        Assert.That(await recovery.RunAsync(TimeSpan.Zero, CancellationToken.None), Is.EqualTo(1));
        Assert.That(recovery.Left, Is.Zero);
        Assert.That(await TestDatabases.ScalarAsync(databases.Queue, "SELECT count(*)::int FROM widget"), Is.EqualTo(1));
    }

    [Test]
    public async Task Those_of_another_queue_database_are_left_to_its_own_recovery()
    {
        var other = await QueueDatabase.ReadAsync(widgets, CancellationToken.None);
        var branch = new ReceivesAsDecisions(other).BranchOf(await queues.DecideAsync("COMMIT"));
        await PrepareAsync(branch);

        Assert.That(await RecoverAsync(), Is.Zero);
        Assert.That(await databases.CountPreparedAsync(), Is.EqualTo(1));
        Assert.That(Reports(), Is.Empty);
        await EndAsync(branch.ToString());
    }

    [Test]
    public async Task Those_whose_queue_database_was_dropped_are_left_alone_and_reported()
    {
        var branch = new ReceivesAsDecisions(queue with { DatabaseOid = uint.MaxValue }).BranchOf(await queues.DecideAsync("COMMIT"));
        await PrepareAsync(branch);

        Assert.That(await RecoverAsync(), Is.Zero);
        Assert.That(await databases.CountPreparedAsync(), Is.EqualTo(1));
        Assert.That(Reports().Single(), Does.StartWith("Error").And.Contain("was dropped").And.Contain("command 'branches'"));
        await EndAsync(branch.ToString());
    }

    [Test]
    public async Task Those_of_another_role_are_reported_with_what_to_grant_and_the_rest_is_ended()
    {
        await using var roles = await TwoRoles.CreateAsync(databases.Widgets);
        var old = new ReceivesAsDecisions(queue).BranchOf(await queues.DecideAsync("COMMIT"));
        await PrepareAsync(old.ToString(), roles.Before);
        await PrepareAsync(new ReceivesAsDecisions(queue).BranchOf(await queues.DecideAsync("COMMIT")).ToString(), roles.After);
        await using var after = NpgsqlDataSource.Create(roles.After);
        var recovery = new Recovery(after, new ReceivesAsDecisions(queue), log);

        Assert.That(await recovery.RunAsync(TimeSpan.Zero, CancellationToken.None), Is.EqualTo(1), "the rest");
        Assert.That(recovery.Left, Is.EqualTo(1));
        Assert.That(
            log.Lines.Single(line => line.Contains($"{old}", StringComparison.Ordinal)),
            Does.StartWith("Error").And.Contain($"GRANT \"{roles.NameBefore}\" to"));

        await roles.GrantAsync();
        Assert.That(await recovery.RunAsync(TimeSpan.Zero, CancellationToken.None), Is.EqualTo(1), "a member may become the role");
        Assert.That(recovery.Left, Is.Zero);
        Assert.That(await TestDatabases.ScalarAsync(roles.After, "SELECT (current_user = session_user)::int"), Is.EqualTo(1));
        Assert.That(await databases.CountRowsAsync(), Is.EqualTo(2));
    }

    /// <summary>In <c>full-dtc-waiting</c>, the rows of the last message are visible when the worker receives the next one.</summary>
    [Test]
    public async Task A_worker_that_waits_for_its_second_phase_waits_for_recovery_if_that_fails()
    {
        await using var roles = await TwoRoles.CreateAsync(databases.Widgets);
        await using var another = NpgsqlDataSource.Create(roles.After);
        var branch = new ReceivesAsDecisions(queue).BranchOf(await queues.DecideAsync("COMMIT"));
        await PrepareAsync(branch.ToString(), roles.Before);
        var slots = new Slots(widgets, new SlotNeeds(Total: 100, Concurrency: 1), log, _ => { });
        await using var phase = new WaitingSecondPhase(new ReceivesAsDecisions(queue), slots, log, CancellationToken.None);

        var finishing = phase.FinishAsync(new PreparedBranch(branch, another, Stopwatch.GetTimestamp())).AsTask();
        var hasGoneOn = await Eventually.IsSoAsync(() => Task.FromResult(finishing.IsCompleted), TimeSpan.FromMilliseconds(500));
        await new Recovery(widgets, new ReceivesAsDecisions(queue), log, slots).RunAsync(TimeSpan.Zero, CancellationToken.None);
        await finishing.WaitAsync(Eventually.Limit);

        Assert.That(hasGoneOn, Is.False, "before the row was visible");
        Assert.That(await databases.CountRowsAsync(), Is.EqualTo(1));
    }

    [Test]
    public async Task A_worker_that_must_stop_does_not_wait_for_recovery()
    {
        await using var roles = await TwoRoles.CreateAsync(databases.Widgets);
        await using var another = NpgsqlDataSource.Create(roles.After);
        var branch = new ReceivesAsDecisions(queue).BranchOf(await queues.DecideAsync("COMMIT"));
        await PrepareAsync(branch.ToString(), roles.Before);
        using var stopping = new CancellationTokenSource();
        await using var phase = new WaitingSecondPhase(
            new ReceivesAsDecisions(queue), new Slots(widgets, new SlotNeeds(Total: 100, Concurrency: 1), log, _ => { }), log, stopping.Token);

        var finishing = phase.FinishAsync(new PreparedBranch(branch, another, Stopwatch.GetTimestamp())).AsTask();
        await stopping.CancelAsync();

        await finishing.WaitAsync(Eventually.Limit);
        await EndAsync(branch.ToString());
    }

    [TestCase("kit/7/8/9", true)]
    [TestCase("kit/7/8", false)]
    [TestCase("kit/7/8/9/1", false)]
    [TestCase("kit/-7/8/9", false)]
    [TestCase("kit/7/8/x", false)]
    [TestCase("00000000-0000-0000-0000-000000000000/123", false)]
    public void An_id_is_read_as_it_is_written_and_nothing_else_is(string globalId, bool isOurs)
    {
        Assert.That(ReceivesAsDecisions.TryParse(globalId, out var database, out var receive), Is.EqualTo(isOurs));
        if (isOurs)
            Assert.That(new ReceivesAsDecisions(database).BranchOf(receive).ToString(), Is.EqualTo(globalId));
    }

    private Recovery Recovery() => new(widgets, new ReceivesAsDecisions(queue), log);

    private Task<int> RecoverAsync(TimeSpan olderThan = default) => Recovery().RunAsync(olderThan, CancellationToken.None);

    /// <summary>Other tests prepare on the same server.</summary>
    private List<string> Reports() =>
        [.. log.Lines.Where(line => line.Contains($" in database {new NpgsqlConnectionStringBuilder(databases.Widgets).Database}", StringComparison.Ordinal))];

    private Task PrepareAsync(BranchId branch) => PrepareAsync(branch.ToString());

    private Task PrepareAsync(string globalId) => PrepareAsync(globalId, databases.Widgets);

    private static async Task PrepareAsync(string globalId, string connectionString)
    {
        await using var source = NpgsqlDataSource.Create(connectionString);
        await using var connection = await source.OpenConnectionAsync();
        await using var transaction = await connection.BeginTransactionAsync();
        await using var insert = new NpgsqlCommand(
            $"INSERT INTO widget (id, message_id) VALUES ({Kit.Handlers.WidgetId.Next()}, gen_random_uuid())",
            connection);
        await insert.ExecuteNonQueryAsync();
        await using var prepare = new NpgsqlCommand($"PREPARE TRANSACTION {TestDatabases.Literal(globalId)}", connection);
        await prepare.ExecuteNonQueryAsync();
    }

    private Task EndAsync(string globalId) =>
        TestDatabases.ExecuteAsync(databases.Widgets, $"ROLLBACK PREPARED {TestDatabases.Literal(globalId)}");
}
