using Kit.Endpoints.Cells;
using Kit.Guarantees;
using Kit.Modes;
using Kit.Runner.Faults.Experiments;
using Kit.Runner.Faults.Testbeds;
using Kit.Runner.Results;
using Kit.Runner.Stage;
using Kit.Runner.Stage.Transports;
using Npgsql;

namespace Kit.Tests.Faults.Experiments;

/// <summary>Sends are counted: those that wait in the outbox, in whichever database its endpoint has created it, and each one that has arrived.</summary>
[Parallelizable]
public sealed class SendsOfAnEndpoint
{
    private ServersInUse servers = null!;

    /// <summary>One cell of each place in which an endpoint keeps an outbox.</summary>
    private static IReadOnlyList<Cell> Cells { get; } =
    [
        .. from cell in Cell.All
           where cell is { Support.IsSupported: true, Access.Name: "ado" } && cell.IsPlain && TestTransport.MissingServer(cell.Kind.Transport) is null
               && cell.Kind.WidgetServer == WidgetServer.PostgreSql && cell.Kind.OutboxTableOf(cell.Mode, cell.Name) is not null
           group cell by (cell.Kind, cell.Mode) into place
           select place.First(),
    ];

    private static IEnumerable<TestCaseData> OfTheKit => OnDemand(Cells.Where(cell => cell.Kind.Framework == "bare"), isAlways: IsPlace);

    private static IEnumerable<TestCaseData> Each =>
        OnDemand(Cells, isAlways: cell => cell.Kind.Transport == TransportName.PostgreSql && cell.Mode == TransactionMode.Outbox);

    [OneTimeSetUp]
    public async Task StartServers()
    {
        PostgreSqlServer.IgnoreWithoutPrograms();
        servers = await ServersInUse.StartAsync(Transport.NeededBy(Cells.Select(Transport.Of)), CancellationToken.None);
    }

    [OneTimeTearDown]
    public async Task StopServers()
    {
        if (servers is not null)
            await servers.DisposeAsync();
    }

    [TestCaseSource(nameof(OfTheKit))]
    public async Task Are_counted_as_often_as_they_arrive(Cell cell)
    {
        var result = await new SingleFault(cell, Fault.ImmediateSend, HandlerShape.OfExperiments, servers, TimeSpan.Zero).RunAsync(CancellationToken.None);

        using (Assert.EnterMultipleScope())
        {
            Assert.That(result.Observed.Select(seen => seen.Class), Is.EqualTo([DeliveryClass.Ghost, DeliveryClass.DuplicatedOutgoing]));
            Assert.That(
                result.Evidence.Count(line => line.StartsWith("outgoing message ", StringComparison.Ordinal)), Is.EqualTo(cell.Mode.Attempts),
                "each attempt sends before it throws");
        }
    }

    [TestCaseSource(nameof(Each))]
    public async Task Wait_where_the_endpoint_has_its_outbox(Cell cell)
    {
        await using var testbed = await Testbed.CreateAsync(cell, servers, CancellationToken.None);
        await testbed.StartHandlerAsync(Guid.Empty, HandlerScript.None, CancellationToken.None);
        await testbed.StopHandlerAsync(CancellationToken.None);
        Assert.That((await testbed.CountAsync(CancellationToken.None)).Outbox, Is.Zero);

        var table = cell.Kind.OutboxTableOf(cell.Mode, RoundTransport.QueueName)!;
        var database = await DatabaseWithAsync(cell, table);
        await ExecuteAsync(database, $"DROP TABLE \"{table}\" CASCADE; CREATE TABLE \"{table}\" AS SELECT 1 AS send");

        Assert.That((await testbed.CountAsync(CancellationToken.None)).Outbox, Is.EqualTo(1));

        await ExecuteAsync(database, $"DROP TABLE \"{table}\"");
        Assert.That(
            () => testbed.CountAsync(CancellationToken.None),
            Throws.TypeOf<KitException>().With.Message.Contains($"its outbox '{table}' is not in the database"));
    }

    private static bool IsPlace(Cell cell) => cell is { Kind.Framework: "bare", Kind.Transport: TransportName.PostgreSql };

    private static IEnumerable<TestCaseData> OnDemand(IEnumerable<Cell> cells, Predicate<Cell> isAlways) =>
        cells.Select(cell => isAlways(cell) ? new TestCaseData(cell) : new TestCaseData(cell).SetCategory(ExhaustiveAttribute.Category));

    /// <returns>The connection string of the only database of the widgets' server that has the table.</returns>
    private async Task<string> DatabaseWithAsync(Cell cell, string table)
    {
        var server = servers.WidgetsOf(cell).ConnectionString;
        await using var source = NpgsqlDataSource.Create(server);
        await using var command = source.CreateCommand("SELECT array_agg(datname::text) FROM pg_database WHERE datallowconn AND NOT datistemplate");
        List<string> having = [];
        foreach (var name in (string[])(await command.ExecuteScalarAsync())!)
        {
            var database = new NpgsqlConnectionStringBuilder(server) { Database = name, Pooling = false }.ConnectionString;
            await using var one = NpgsqlDataSource.Create(database);
            await using var find = one.CreateCommand($"SELECT to_regclass('\"{table}\"') IS NOT NULL");
            if (await find.ExecuteScalarAsync() is true)
                having.Add(database);
        }

        return having.Single();
    }

    private static async Task ExecuteAsync(string database, string statements)
    {
        await using var source = NpgsqlDataSource.Create(database);
        await using var command = source.CreateCommand(statements);
        await command.ExecuteNonQueryAsync();
    }
}
