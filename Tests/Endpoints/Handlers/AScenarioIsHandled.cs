using System.Data.Common;
using System.Globalization;
using Kit.Handlers;
using Npgsql;

namespace Kit.Tests.Handlers;

/// <summary>What each scenario leaves behind when one message is handled twice, each time in a transaction of its own.</summary>
[Parallelizable]
public sealed class AScenarioIsHandled
{
    private const string Sink = "sink";
    private const string Requester = "whoever has asked";
    private const string Subscribers = "all that have subscribed";

    private static IEnumerable<TestCaseData> Scenarios =>
    [
        Case(Scenario.Insert, rows: 2, sent: 0, total: null),
        Case(Scenario.InsertAndSend, rows: 2, sent: 2, total: null),
        Case(Scenario.UpdateOneRow, rows: 2, sent: 0, total: 2),
        Case(Scenario.Upsert, rows: 1, sent: 0, total: null),
        .. Scenario.All.Where(scenario => scenario is { IsPublisher: true, Rows: 1 }).Select(scenario => Case(scenario, rows: 2, sent: 2, total: null)),
        .. Scenario.All.Where(scenario => scenario.Rows == 0).Select(scenario => Case(scenario, rows: 0, sent: 2, total: null)),
    ];

    [TestCaseSource(nameof(Scenarios))]
    public async Task Twice_for_one_message(Scenario scenario, int rows, int sent, long? total)
    {
        var schema = string.Create(CultureInfo.InvariantCulture, $"scenario_{scenario.Name.Replace('-', '_')}_{Environment.ProcessId}");
        var server = await PostgreSqlServer.GetAsync();
        await using var source = NpgsqlDataSource.Create(new NpgsqlConnectionStringBuilder(server.ConnectionString) { SearchPath = schema });
        await ExecuteAsync(source, $"CREATE SCHEMA {schema}; CREATE TABLE {schema}.widget (id bigint PRIMARY KEY, message_id uuid NOT NULL)");
        if (scenario.Prepare is not null)
            await ExecuteAsync(source, scenario.Prepare);
        var handle = scenario.Handle(new AdoInsert(), Sink);
        var asked = scenario.Asks ? new Widget(WidgetId.Next(), Guid.NewGuid()) : null;
        if (asked is not null)
            await ExecuteAsync(source, $"INSERT INTO widget VALUES ({asked.Id}, '{asked.MessageId}')");
        var id = Guid.NewGuid();
        var message = new BuildWidget(id) { Document = scenario.Document?.Invoke(id, null), Row = asked?.Id };
        var expected = scenario.Expects?.Invoke(message, asked);
        await using var context = new Context(source);

        await handle(message, context, CancellationToken.None);
        await handle(message, context, CancellationToken.None);

        using (Assert.EnterMultipleScope())
        {
            Assert.That(await ScalarAsync(source, $"SELECT count(*) FROM widget WHERE message_id = '{message.MessageId}'"), Is.EqualTo(rows));
            Assert.That(context.Sent, Is.EqualTo(Enumerable.Repeat(
                scenario.IsPublisher
                    ? (Subscribers, (object)new WidgetReady(id) { Document = expected?.Document })
                    : (scenario.Asks ? Requester : expected is { Sink: 1 } ? $"{Sink}-2" : Sink, new WidgetBuilt(id) { Document = expected?.Document }),
                sent)));
            if (scenario.Total is { } query)
                Assert.That(await ScalarAsync(source, query), Is.EqualTo(total));
        }

        await ExecuteAsync(source, $"DROP SCHEMA {schema} CASCADE");
    }

    [Test]
    public void Every_scenario_is_tried() =>
        Assert.That(Scenarios.Select(tried => tried.Arguments[0]), Is.EquivalentTo(Scenario.All));

    private static TestCaseData Case(Scenario scenario, int rows, int sent, long? total) =>
        new TestCaseData(scenario, rows, sent, total).SetArgDisplayNames(scenario.Name);

    private static async Task ExecuteAsync(NpgsqlDataSource source, string statements)
    {
        await using var command = source.CreateCommand(statements);
        await command.ExecuteNonQueryAsync();
    }

    private static async Task<long> ScalarAsync(NpgsqlDataSource source, string query)
    {
        await using var command = source.CreateCommand(query);
        return (long)(await command.ExecuteScalarAsync())!;
    }

    /// <summary>An endpoint without a transaction: each statement commits by itself.</summary>
    private sealed class Context(NpgsqlDataSource source) : IMessageContext, IAsyncDisposable
    {
        private NpgsqlConnection? connection;

        public List<(string To, object Message)> Sent { get; } = [];

        public async ValueTask<DbConnection> GetAsync(CancellationToken cancellationToken) =>
            connection ??= await source.OpenConnectionAsync(cancellationToken);

        public ValueTask<DbTransaction?> GetTransactionAsync(CancellationToken cancellationToken) => ValueTask.FromResult<DbTransaction?>(null);

        public Task SendAsync(string queue, WidgetBuilt message, CancellationToken cancellationToken)
        {
            Sent.Add((queue, message));
            return Task.CompletedTask;
        }

        public Task ReplyAsync(WidgetBuilt message, CancellationToken cancellationToken)
        {
            Sent.Add((Requester, message));
            return Task.CompletedTask;
        }

        public Task PublishAsync(WidgetReady message, CancellationToken cancellationToken)
        {
            Sent.Add((Subscribers, message));
            return Task.CompletedTask;
        }

        public ValueTask DisposeAsync() => connection?.DisposeAsync() ?? ValueTask.CompletedTask;
    }
}
