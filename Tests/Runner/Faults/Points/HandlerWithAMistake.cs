using Kit.Guarantees;
using Kit.Runner.Faults.Points;
using Kit.Runner.Results.Accounts;
using Kit.Runner.Results.Points;
using Kit.Runner.Wire;
using Npgsql;

namespace Kit.Tests.Faults.Points;

/// <summary>Handlers that are not the kit's: what is wrong with each is found at one of its points, and the one without a mistake has none.</summary>
[Parallelizable]
[Exhaustive]
public sealed class HandlerWithAMistake
{
    private const string Receive = "DELETE FROM inbox RETURNING message_id";

    private TestDatabases databases = null!;
    private FaultProxy proxy = null!;
    private RequestGate gate = null!;
    private string through = null!;

    [SetUp]
    public async Task Connect()
    {
        databases = await TestDatabases.CreateAsync();
        await ExecuteAsync(databases.Widgets, "CREATE TABLE inbox (message_id uuid); CREATE TABLE work (message_id uuid, attempt_id uuid)");
        var server = new NpgsqlConnectionStringBuilder(databases.Widgets) { Pooling = false, CommandTimeout = 30 };
        gate = new RequestGate();
        proxy = new FaultProxy(
            server.Host!, server.Port, new ProxiedNetwork { Filter = sides => gate.Open("database", new PostgreSqlWire(), sides) });
        through = new NpgsqlConnectionStringBuilder(server.ConnectionString) { Host = "127.0.0.1", Port = proxy.Port }.ConnectionString;
    }

    [TearDown]
    public async Task Disconnect()
    {
        if (databases is null)
            return;

        await proxy.DisposeAsync();
        await databases.DisposeAsync();
    }

    [TestCase("BEGIN|receive|work|work|COMMIT", TestName = "Without a mistake, once at every point", ExpectedResult = "once")]
    [TestCase("BEGIN|receive|work|COMMIT|work", TestName = "Acknowledging before its last statement, torn", ExpectedResult = "torn, once")]
    [TestCase("receive|BEGIN|work|work|COMMIT", TestName = "Acknowledging before its work, lost", ExpectedResult = "lost, once")]
    [TestCase("BEGIN|look|work|work|COMMIT|receive", TestName = "Acknowledging after its work, doubled", ExpectedResult = "duplicated, once")]
    public async Task<string> Is_found_out(string steps)
    {
        // The first connection of a process loads the server's types.
        await HandleAsync(steps);
        await SendAsync();
        gate.Record();
        await HandleAsync(steps);
        var points = Handling.PointsOf([Handling.Of(gate.Release(), new HashSet<string>())]);
        Assert.That(points[0].Request.Text, Is.EqualTo("connect"));

        var classes = new HashSet<DeliveryClass>();
        foreach (var point in points)
        {
            foreach (var way in new[] { PointWay.NeverSent, PointWay.Killed }.Intersect(point.Ways))
            {
                var found = await CrashAsync(steps, new MetMoment(point, points), way);
                TestContext.Out.WriteLine($"{point.Number}: {PointMoment.Of(point, way)}: {found}");
                classes.Add(found);
            }
        }

        return string.Join(", ", classes.Order().Select(Words.Of));
    }

    /// <summary>A connection that ends without a word is all that its server sees of a killed process.</summary>
    private async Task<DeliveryClass> CrashAsync(string steps, MetMoment moment, PointWay way)
    {
        await ExecuteAsync(databases.Widgets, "DELETE FROM inbox; DELETE FROM work");
        var message = await SendAsync();
        gate.Arm(moment, way);
        var crashing = HandleAsync(steps);
        Assert.That(
            await Task.WhenAny(gate.Fired, Task.Delay(Eventually.Limit)), Is.EqualTo(gate.Fired),
            $"did not come to {moment.Point.Number}: {moment.Point.Request}");
        await proxy.EndAllAsync(Ending.Reset);
        gate.Release();
        try
        {
            await crashing.WaitAsync(Eventually.Limit);
        }
        catch (NpgsqlException)
        {
            // Its connection was reset, as a killed process's would be.
        }

        await HandleAsync(steps);
        var account = Account.Of(
            new History
            {
                Sendings = [new Sending(message, SendResult.Acked)],
                Attempts = [],
                Rows = await ReadAsync("SELECT message_id, attempt_id FROM work"),
                Sink = [],
                Errors = [],
                Queue = [.. (await ReadAsync("SELECT message_id, message_id FROM inbox")).Select(row => new QueueEntry(row.MessageId, Receivable: true))],
                Prepared = [],
            },
            new Workload(RowsPerAttempt: 2, Sends: false, ReceiveIsBranch: false) { HasJournal = false });
        return account.Verdicts.Single().Class;
    }

    private async Task HandleAsync(string steps)
    {
        await using var connection = new NpgsqlConnection(through);
        await connection.OpenAsync();
        var attempt = Guid.NewGuid();
        Guid? message = null;
        foreach (var step in steps.Split('|'))
        {
            await using var command = new NpgsqlCommand(TextOf(step), connection);
            if (step is "work" && message is null)
                continue;
            if (step is "work")
            {
                command.Parameters.Add(new NpgsqlParameter<Guid> { TypedValue = message!.Value });
                command.Parameters.Add(new NpgsqlParameter<Guid> { TypedValue = attempt });
            }

            message = await command.ExecuteScalarAsync() as Guid? ?? message;
        }
    }

    private static string TextOf(string step) => step switch
    {
        "receive" => Receive,
        "look" => "SELECT message_id FROM inbox",
        "work" => "INSERT INTO work (message_id, attempt_id) VALUES ($1, $2)",
        _ => step,
    };

    private async Task<Guid> SendAsync()
    {
        var message = Guid.CreateVersion7();
        await ExecuteAsync(databases.Widgets, $"INSERT INTO inbox VALUES ('{message}')");
        return message;
    }

    private async Task<IReadOnlyList<WidgetRow>> ReadAsync(string query)
    {
        await using var source = NpgsqlDataSource.Create(databases.Widgets);
        await using var command = source.CreateCommand(query);
        await using var reader = await command.ExecuteReaderAsync();
        var rows = new List<WidgetRow>();
        while (await reader.ReadAsync())
            rows.Add(new WidgetRow(rows.Count, reader.GetGuid(0), reader.GetGuid(1)));
        return rows;
    }

    private static async Task ExecuteAsync(string connectionString, string statements)
    {
        await using var source = NpgsqlDataSource.Create(connectionString);
        await using var command = source.CreateCommand(statements);
        await command.ExecuteNonQueryAsync();
    }
}
