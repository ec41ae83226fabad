using System.Text;
using Kit.Handlers;
using Kit.Runner.Results.Points;
using Kit.Runner.Wire;
using Npgsql;

namespace Kit.Tests.Faults.Points;

/// <summary>A request that is known by a message's id: which one it is, on PostgreSQL and in frames of AMQP.</summary>
[Parallelizable]
public sealed class RequestWithAnId
{
    private const string Insert = "INSERT INTO widget (id, message_id) VALUES ($1, $2)";

    private TestDatabases databases = null!;
    private GatedPostgreSql proxy = null!;
    private NpgsqlConnection connection = null!;
    private Guid message;
    private int session;

    [SetUp]
    public async Task Connect()
    {
        databases = await TestDatabases.CreateAsync();
        proxy = new GatedPostgreSql(databases.Widgets);
        connection = new NpgsqlConnection(new NpgsqlConnectionStringBuilder(proxy.Through) { Pooling = false }.ConnectionString);
        await connection.OpenAsync();
        (message, session) = (Guid.CreateVersion7(), connection.ProcessID);
    }

    [TearDown]
    public async Task Disconnect()
    {
        if (databases is null)
            return;

        await connection.DisposeAsync();
        await proxy.DisposeAsync();
        await databases.DisposeAsync();
    }

    [TestCase(PointWay.CutBefore, 0)]
    [TestCase(PointWay.Cut, 1)]
    public async Task Cut_at_its_commit_the_client_is_in_doubt_and_the_server_has_the_row_or_not(PointWay way, int rows)
    {
        proxy.Arm(new MarkedRequest { Text = MarkedRequest.Commit, Follows = message }, way);
        await using var transaction = await connection.BeginTransactionAsync();
        await InsertAsync(message);

        await LostAsync(transaction.CommitAsync());

        await RowsAsync(rows);
    }

    [TestCase(PointWay.CutBefore, 0)]
    [TestCase(PointWay.Cut, 1)]
    public async Task A_commit_in_the_batch_of_the_insert_is_met_after_it(PointWay way, int rows)
    {
        proxy.Arm(new MarkedRequest { Text = MarkedRequest.Commit, Follows = message }, way);
        await using var batch = new NpgsqlBatch(connection) { BatchCommands = { new("BEGIN"), InsertOf(message), new("COMMIT") } };

        await LostAsync(batch.ExecuteNonQueryAsync());

        await RowsAsync(rows);
    }

    [Test]
    public async Task A_transaction_that_was_open_before_counts()
    {
        await using var transaction = await connection.BeginTransactionAsync();
        await ExecuteAsync("SELECT 1");
        proxy.Arm(new MarkedRequest { Text = MarkedRequest.Commit, Follows = message }, PointWay.CutBefore);
        await InsertAsync(message);

        await LostAsync(transaction.CommitAsync());

        await RowsAsync(0);
    }

    [Test]
    public async Task The_commit_of_another_message_passes()
    {
        proxy.Arm(new MarkedRequest { Text = MarkedRequest.Commit, Follows = message }, PointWay.CutBefore);
        await using (var transaction = await connection.BeginTransactionAsync())
        {
            await InsertAsync(message);
            await transaction.RollbackAsync();
        }

        await using (var transaction = await connection.BeginTransactionAsync())
        {
            await InsertAsync(Guid.CreateVersion7());
            await transaction.CommitAsync();
        }

        Assert.That(proxy.HasFired, Is.False);
        await RowsAsync(1);
    }

    [TestCase(PointWay.CutBefore, 1)]
    [TestCase(PointWay.Cut, 2)]
    public async Task A_commit_that_is_not_due_passes(PointWay way, int rows)
    {
        var isDue = false;
        proxy.Arm(new MarkedRequest { Text = MarkedRequest.Commit, Follows = message, IsDue = () => isDue }, way);
        await using (var early = await connection.BeginTransactionAsync())
        {
            await InsertAsync(message);
            await early.CommitAsync();
        }

        Assert.That(proxy.HasFired, Is.False);
        isDue = true;
        await using var transaction = await connection.BeginTransactionAsync();
        await InsertAsync(message);

        await LostAsync(transaction.CommitAsync());

        await RowsAsync(rows);
    }

    [Test]
    public async Task A_commit_that_the_server_answers_with_a_rollback_passes()
    {
        proxy.Arm(new MarkedRequest { Text = MarkedRequest.Commit, Follows = message }, PointWay.Cut);
        await ExecuteAsync("BEGIN");
        await InsertAsync(message);
        Assert.That(async () => await ExecuteAsync("SELECT 1 / 0"), Throws.InstanceOf<PostgresException>());

        await ExecuteAsync("COMMIT");

        Assert.That(proxy.HasFired, Is.False);
        await RowsAsync(0);
    }

    [Test]
    public async Task Without_a_text_it_is_the_first_that_carries_the_id()
    {
        proxy.Arm(new MarkedRequest { Carries = message }, PointWay.Cut);
        await InsertAsync(Guid.CreateVersion7());

        await LostAsync(InsertAsync(message));

        await RowsAsync(2);
    }

    [Test]
    public async Task Of_several_servers_it_is_the_one_that_is_named()
    {
        proxy.Arm(new MarkedRequest { Carries = message, Server = "queue" }, PointWay.Cut);

        await InsertAsync(message);

        Assert.That(proxy.HasFired, Is.False);
    }

    [Test]
    public void A_publish_carries_what_is_in_its_body()
    {
        var wire = new AmqpWire();
        byte[][] start = [AmqpFrames.Method(0, 10, 10), AmqpFrames.Method(0, 10, 30), AmqpFrames.Method(0, 10, 41)];
        wire.FromClient(AmqpFrames.Protocol);
        wire.FromServer([.. start.SelectMany(frame => frame)]);

        var publish = wire.FromClient(AmqpFrames.Publish(1, Encoding.ASCII.GetBytes($"{{ \"id\": \"{message}\" }}"))).Single().Request!;

        Assert.That((publish.Text, publish.Carries(message), publish.Carries(Guid.NewGuid())), Is.EqualTo(("basic.publish", true, false)));
    }

    private async Task LostAsync(Task asked)
    {
        Assert.That(async () => await asked.WaitAsync(Eventually.Limit), Throws.InstanceOf<NpgsqlException>().And.Not.InstanceOf<PostgresException>());
        await proxy.FiredAsync();
    }

    private async Task RowsAsync(int rows)
    {
        if (proxy.HasFired)
            await Eventually.HoldsAsync(async () => await SessionsAsync() == 0, "the server has ended the session");
        Assert.That(await databases.CountRowsAsync(), Is.EqualTo(rows));
    }

    private Task<int> SessionsAsync() =>
        TestDatabases.ScalarAsync(databases.Queue, $"SELECT count(*)::int FROM pg_stat_activity WHERE pid = {session}");

    private async Task InsertAsync(Guid id)
    {
        await using var batch = new NpgsqlBatch(connection) { BatchCommands = { InsertOf(id) } };
        await batch.ExecuteNonQueryAsync();
    }

    private async Task ExecuteAsync(string statement)
    {
        await using var command = new NpgsqlCommand(statement, connection);
        await command.ExecuteNonQueryAsync();
    }

    private static NpgsqlBatchCommand InsertOf(Guid id) => new(Insert)
    {
        Parameters = { new NpgsqlParameter<long> { TypedValue = WidgetId.Next() }, new NpgsqlParameter<Guid> { TypedValue = id } },
    };
}
