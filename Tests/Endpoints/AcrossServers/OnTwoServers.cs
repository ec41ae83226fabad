using Kit.Endpoints.Bare.PostgreSql.TwoPhase;
using Kit.Runner.Servers;
using Npgsql;

namespace Kit.Tests.AcrossServers;

/// <summary>A queue on one server of the fixture's own, and rows on another.</summary>
public abstract class OnTwoServers
{
    internal PrivatePostgreSql QueueServer { get; private set; } = null!;

    internal PrivatePostgreSql DataServer { get; private set; } = null!;

    internal TwoServersBench Bench { get; private set; } = null!;

    [OneTimeSetUp]
    public async Task StartServers()
    {
        PostgreSqlServer.IgnoreWithoutPrograms();
        var (queue, data) = (PrivatePostgreSql.StartAsync(CancellationToken.None), PrivatePostgreSql.StartAsync(CancellationToken.None));
        QueueServer = await queue;
        DataServer = await data;
    }

    [OneTimeTearDown]
    public async Task StopServers()
    {
        if (QueueServer is not null)
            await QueueServer.DisposeAsync();
        if (DataServer is not null)
            await DataServer.DisposeAsync();
    }

    [SetUp]
    public async Task SetUp() => Bench = await TwoServersBench.CreateAsync(QueueServer, DataServer);

    [TearDown]
    public async Task TearDown()
    {
        if (Bench is not null)
            await Bench.DisposeAsync();
        Bench = null!;
    }

    /// <summary>The row of a worker whose process was killed.</summary>
    protected async Task InsertWorkerAsync(Guid worker, string open)
    {
        await using var data = NpgsqlDataSource.Create(Bench.DataConnection);
        var place = await QueueDatabase.ReadAsync(data, CancellationToken.None);
        await TestDatabases.ExecuteAsync(
            Bench.QueueConnection,
            "INSERT INTO kit_worker (id, branches_on, database, open) " +
            $"VALUES ('{worker}', {unchecked((long)place.SystemIdentifier)}, {place.DatabaseOid}, '{open}')");
    }

    internal async Task PrepareAsync(BranchId branch) => await TestDatabases.ExecuteAsync(
        Bench.DataConnection,
        $"BEGIN; INSERT INTO widget VALUES ({Kit.Handlers.WidgetId.Next()}, '{Guid.NewGuid()}'); {branch.Prepare}");

    protected async Task<Guid> ReadIdentityAsync()
    {
        await using var source = NpgsqlDataSource.Create(Bench.QueueConnection);
        await using var read = source.CreateCommand("SELECT id FROM kit_queue_identity");
        return (Guid)(await read.ExecuteScalarAsync())!;
    }
}
