using Kit.Endpoints.Bare.PostgreSql.TwoPhase;
using Kit.Runner.Results;
using Kit.Tests.CommandLine;
using Npgsql;

namespace Kit.Tests.TwoPhase;

/// <summary>What lies prepared is listed with its owner and decision, and ended as these allow.</summary>
[Parallelizable]
public sealed class PreparedTransactionsOfAServer
{
    private TestDatabases databases = null!;
    private NpgsqlDataSource queues = null!;
    private NpgsqlDataSource widgets = null!;
    private QueueDatabase queue;

    [SetUp]
    public async Task SetUp()
    {
        databases = await TestDatabases.CreateAsync();
        queues = NpgsqlDataSource.Create(databases.Queue);
        widgets = NpgsqlDataSource.Create(databases.Widgets);
        queue = await QueueDatabase.ReadAsync(queues, CancellationToken.None);
    }

    [TearDown]
    public async Task TearDown()
    {
        if (databases is null)
            return;

        await databases.RollBackPreparedAsync();
        await queues.DisposeAsync();
        await widgets.DisposeAsync();
        await databases.DisposeAsync();
    }

    [TestCase("COMMIT", BranchDecision.Committed, 1)]
    [TestCase("ROLLBACK", BranchDecision.Aborted, 0)]
    public async Task One_of_a_queue_here_is_ended_by_its_decision(string ending, BranchDecision decision, int rows)
    {
        var branch = await PrepareAsync(new ReceivesAsDecisions(queue).BranchOf(await queues.DecideAsync(ending)).ToString());

        var found = await ReadAsync(branch);
        Assert.That(found.Owner, Is.EqualTo(BranchOwner.ThisServer));
        Assert.That(found.QueueDatabase, Is.EqualTo(new NpgsqlConnectionStringBuilder(databases.Queue).Database));
        Assert.That(found.Database, Is.EqualTo(new NpgsqlConnectionStringBuilder(databases.Widgets).Database));
        Assert.That(found.Decision, Is.EqualTo(decision));
        Assert.That(found.LockedTables, Is.EqualTo(new[] { "widget" }));
        Assert.That(found.Age, Is.InRange(TimeSpan.Zero, Eventually.Limit));
        var against = decision is BranchDecision.Committed ? BranchDecision.Aborted : BranchDecision.Committed;
        Assert.That((await RefusalOfAsync(branch, against)).Message, Does.Contain("was decided: ").And.Contain("now would"));

        Assert.That(await All.EndAsync(branch, asked: null, CancellationToken.None), Is.EqualTo(decision));
        Assert.That(await databases.CountRowsAsync(), Is.EqualTo(rows));
        Assert.That(await databases.CountPreparedAsync(), Is.Zero);
    }

    [Test]
    public async Task One_that_is_undecided_is_left_whatever_is_asked()
    {
        await using var connection = await queues.OpenConnectionAsync();
        await using var receive = await connection.BeginTransactionAsync();
        var branch = await PrepareAsync(new ReceivesAsDecisions(queue).BranchOf(await connection.TransactionIdAsync()).ToString());

        Assert.That((await ReadAsync(branch)).Decision, Is.EqualTo(BranchDecision.Undecided));
        foreach (var asked in new BranchDecision?[] { null, BranchDecision.Committed, BranchDecision.Aborted })
            Assert.That((await RefusalOfAsync(branch, asked)).Message, Does.Contain("is undecided"));
    }

    [TestCase(BranchDecision.Committed, 1)]
    [TestCase(BranchDecision.Aborted, 0)]
    public async Task One_whose_decision_is_unknown_is_ended_as_asked(BranchDecision asked, int rows)
    {
        var branch = await PrepareAsync(new ReceivesAsDecisions(queue).BranchOf(ulong.MaxValue / 4).ToString());

        Assert.That((await ReadAsync(branch)).Decision, Is.EqualTo(BranchDecision.Unknown));
        Assert.That((await RefusalOfAsync(branch, asked: null)).Message, Does.Contain("no longer knows its decision"));
        await All.EndAsync(branch, asked, CancellationToken.None);
        Assert.That(await databases.CountRowsAsync(), Is.EqualTo(rows));
    }

    [Test]
    public async Task One_of_a_queue_whose_database_was_dropped_still_has_its_decision()
    {
        var dropped = queue with { DatabaseOid = 4_000_000_000 };
        var branch = await PrepareAsync(new ReceivesAsDecisions(dropped).BranchOf(await queues.DecideAsync("COMMIT")).ToString());

        var found = await ReadAsync(branch);
        Assert.That(
            (found.Owner, found.QueueDatabase, found.Decision),
            Is.EqualTo((BranchOwner.ThisServer, (string?)null, BranchDecision.Committed)));
        Assert.That(await All.EndAsync(branch, asked: null, CancellationToken.None), Is.EqualTo(BranchDecision.Committed));
    }

    [TestCase("kit/1/2/3", BranchOwner.AnotherServer, "on another server")]
    [TestCase("somebody else's", BranchOwner.Foreign, "it does not belong to the kit")]
    public async Task One_that_is_not_ours_is_ended_as_asked_and_not_otherwise(string globalId, BranchOwner owner, string because)
    {
        var branch = await PrepareAsync(globalId);

        var found = await ReadAsync(branch);
        Assert.That((found.Owner, found.Decision), Is.EqualTo((owner, BranchDecision.Unknown)));
        Assert.That(
            await RefusalOfAsync(branch, asked: null),
            Has.Message.Contains(because).And.Property("Remedy").Contains("(widget), then add --commit or --rollback"));
        await All.EndAsync(branch, BranchDecision.Committed, CancellationToken.None);
        Assert.That(await databases.CountRowsAsync(), Is.EqualTo(1));
    }

    [Test]
    public async Task A_role_without_rights_sees_them_and_may_not_end_them()
    {
        var branch = await PrepareAsync("foreign");
        var role = $"guest_{Guid.NewGuid():N}";
        await TestDatabases.ExecuteAsync(databases.Queue, $"CREATE ROLE {role} LOGIN PASSWORD 'guest-secret'");
        try
        {
            var asGuest = new NpgsqlConnectionStringBuilder(databases.Queue) { Username = role, Password = "guest-secret" }.ToString();
            var list = await OperatorsCommand.RunAsync("branches", "--postgresql", asGuest);
            var end = await OperatorsCommand.RunAsync("branches", "end", branch, "--rollback", "--postgresql", asGuest);

            Assert.That(list.Output, Does.Contain("foreign"), list.Errors);
            Assert.That(end.ExitCode, Is.EqualTo(ExitCode.Failure));
            Assert.That(end.Errors, Does.StartWith($"error: {role} is not allowed to end 'foreign' in database "));
            Assert.That(end.Errors, Does.Contain("or as a superuser").And.Not.Contain("guest-secret"));
        }
        finally
        {
            await TestDatabases.ExecuteAsync(databases.Queue, $"DROP ROLE {role}");
        }
    }

    /// <summary>PostgreSQL drops a role whose transaction lies prepared. It must not hide the others.</summary>
    [Test]
    [Exhaustive]
    public async Task One_whose_role_was_dropped_is_listed_and_ended()
    {
        const string globalId = "of nobody";
        await using (var roles = await TwoRoles.CreateAsync(databases.Widgets))
        {
            await using var before = NpgsqlDataSource.Create(roles.Before);
            await PrepareAsync(globalId, before);
        }

        var list = await BranchesAsync();
        Assert.That(list.ExitCode, Is.EqualTo(ExitCode.Success), list.Errors);
        Assert.That(list.Output, Does.Match($"(?m)^{globalId} +test_[^ ]+_widgets  \\(dropped\\) +[0-9]+ s "));
        Assert.That((await ReadAsync(globalId)).Role, Is.Null);
        Assert.That((await BranchesAsync("end", globalId, "--commit")).Output, Is.EqualTo($"Committed: {globalId}\n"));
        Assert.That(await databases.CountRowsAsync(), Is.EqualTo(1));
    }

    [Test]
    public async Task The_command_lists_and_ends_them()
    {
        var ours = await PrepareAsync(new ReceivesAsDecisions(queue).BranchOf(await queues.DecideAsync("COMMIT")).ToString());
        var foreign = await PrepareAsync("other app");

        var list = await RunnerProcess.RunAsync("branches", "--postgresql", databases.Queue);
        Assert.That(list.ExitCode, Is.EqualTo(ExitCode.Success), list.Errors);
        Assert.That(
            list.Output,
            Does.Match($"(?m)^{ours} +test_[^ ]+_widgets  kit +[0-9]+ s +queue in test_[^ ]+_queue  committed +widget$"));
        Assert.That(list.Output, Does.Match("(?m)^other app +test_[^ ]+_widgets  kit +[0-9]+ s +foreign .* unknown +widget$"));
        var json = (await BranchesAsync("--json")).Output;
        Assert.That(json, Does.Contain("\"owner\": \"foreign\"").And.Contain("\"decision\": \"committed\""));

        var refused = await BranchesAsync("end", foreign);
        Assert.That(refused.ExitCode, Is.EqualTo(ExitCode.Failure));
        Assert.That(refused.Errors, Does.StartWith("error: You must decide how to end 'other app': "));
        Assert.That(refused.Errors, Does.Contain("add --commit or --rollback"));
        Assert.That((await BranchesAsync("end", ours, "--rollback")).Errors, Does.Contain("was decided: committed"));

        Assert.That((await BranchesAsync("end", ours)).Output, Is.EqualTo($"Committed: {ours}\n"));
        Assert.That((await BranchesAsync("end", foreign, "--rollback")).Output, Is.EqualTo("Rolled back: other app\n"));
        Assert.That(await databases.CountPreparedAsync(), Is.Zero);
        Assert.That(await databases.CountRowsAsync(), Is.EqualTo(1));

        var gone = await BranchesAsync("end", ours);
        Assert.That(gone.ExitCode, Is.EqualTo(ExitCode.Failure));
        Assert.That(gone.Errors, Does.StartWith($"error: There is no prepared transaction '{ours}' on this server."));
    }

    // From another database than theirs, as a rule.
    private PreparedTransactions All => new(databases.Queue);

    private Task<RunnerResult> BranchesAsync(params string[] command) =>
        OperatorsCommand.RunAsync(["branches", .. command, "--postgresql", databases.Queue]);

    private async Task<PreparedTransaction> ReadAsync(string globalId) =>
        (await All.ReadAsync(CancellationToken.None)).Single(one => one.GlobalId == globalId);

    private async Task<BranchRefusedException> RefusalOfAsync(string globalId, BranchDecision? asked) =>
        (await Assert.ThrowsAsync<BranchRefusedException>(() => All.EndAsync(globalId, asked, CancellationToken.None)))!;

    private Task<string> PrepareAsync(string globalId) => PrepareAsync(globalId, widgets);

    private static async Task<string> PrepareAsync(string globalId, NpgsqlDataSource source)
    {
        await using var connection = await source.OpenConnectionAsync();
        await using var transaction = await connection.BeginTransactionAsync();
        await using var insert = new NpgsqlCommand(
            "INSERT INTO widget (id, message_id) VALUES ((random() * 1e15)::bigint, gen_random_uuid())", connection);
        await insert.ExecuteNonQueryAsync();
        await using var prepare = new NpgsqlCommand($"PREPARE TRANSACTION {TestDatabases.Literal(globalId)}", connection);
        await prepare.ExecuteNonQueryAsync();
        return globalId;
    }
}
