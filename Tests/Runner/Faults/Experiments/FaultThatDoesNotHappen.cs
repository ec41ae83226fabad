using Kit.Endpoints.Cells;
using Kit.Guarantees;
using Kit.Modes;
using Kit.Runner.Faults.Injections;
using Kit.Runner.Faults.Testbeds;
using Kit.Runner.Stage.Transports;
using Kit.Runner.Wire;
using Npgsql;

namespace Kit.Tests.Faults.Experiments;

/// <summary>A fault that is brought about where it disturbs nothing: without its disturbance, an experiment must not be kept.</summary>
[Parallelizable]
public sealed class FaultThatDoesNotHappen
{
    private const string DidNotFire = "the fault did not fire";

    private static readonly Transport PostgreSql = Transport.Of(In(TransactionMode.Shared));

    private ServersInUse servers = null!;

    [OneTimeSetUp]
    public async Task StartServers()
    {
        PostgreSqlServer.IgnoreWithoutPrograms();
        servers = await ServersInUse.StartAsync(Transport.NeededBy([PostgreSql]), CancellationToken.None);
    }

    [OneTimeTearDown]
    public async Task StopServers()
    {
        if (servers is not null)
            await servers.DisposeAsync();
    }

    [Test]
    public async Task Nothing_times_out_without_an_ambient_transaction() =>
        Assert.That(await InjectAsync(TransactionMode.ScopeOff, new ScopeTimesOut()), Is.EqualTo(DidNotFire));

    [TestCase("shared")]
    [TestCase("outbox", Category = ExhaustiveAttribute.Category)]
    public async Task A_server_that_turns_read_only_does_not_refuse_a_transaction_that_has_begun(string mode) =>
        Assert.That(await InjectAsync(TransactionMode.Parse(mode), new ServerReadOnly()), Is.EqualTo(DidNotFire));

    [Test]
    public async Task A_prepared_transaction_that_comes_free_lets_the_message_through()
    {
        await using var source = NpgsqlDataSource.Create(servers.WidgetsOf(In(TransactionMode.FullDtc)).ConnectionString);
        await ExecuteAsync(source, "BEGIN; SELECT pg_current_xact_id(); PREPARE TRANSACTION 'a third application'");
        var freed = Task.Run(async () =>
        {
            await Eventually.HoldsAsync(() => AreAllTakenAsync(source), "every prepared transaction is taken");
            await ExecuteAsync(source, "ROLLBACK PREPARED 'a third application'");
        });

        Assert.That(await InjectAsync(TransactionMode.FullDtc, new SlotsExhausted()), Is.EqualTo(DidNotFire));
        await freed;
    }

    [Test]
    public async Task A_receive_that_has_no_connection_any_more_is_not_lost_again()
    {
        var (cell, chosen) = (In(TransactionMode.DtcOff), Guid.CreateVersion7());
        await using var testbed = await Testbed.CreateAsync(cell, servers, CancellationToken.None);
        await using var scene = new FaultScene(cell, chosen, testbed, servers, TimeSpan.Zero, TestContext.Out.WriteLine);
        await testbed.StartHandlerAsync(chosen, new ReceiveLost().Script, CancellationToken.None);
        await testbed.SendAsync([chosen], CancellationToken.None);
        await Eventually.HoldsAsync(() => scene.Failures() > 0, "the attempt waits for its cut");
        testbed.TransportProxy.RefuseConnections();
        await testbed.TransportProxy.EndAllAsync(Ending.Cut);

        Assert.That(await ReceiveLost.CutAsync(scene, CancellationToken.None), Is.False);
    }

    [TestCaseSource(typeof(MetFaults), nameof(MetFaults.Cells))]
    public void Where_it_cannot_happen_there_is_no_window(Cell cell)
    {
        using (Assert.EnterMultipleScope())
        {
            Assert.That(
                Injection.Of(Fault.ScopeTimesOut, cell, Guid.Empty) is NoWindow, Is.EqualTo(!cell.Mode.CommitOrder.HasAmbientTransaction));
            Assert.That(
                Injection.Of(Fault.ServerReadOnly, cell, Guid.Empty) is NoWindow,
                Is.EqualTo(cell.Mode == TransactionMode.Shared || cell.Mode == TransactionMode.Outbox));
        }
    }

    private static Cell In(TransactionMode mode) => Cell.Find($"bare.{TransportName.PostgreSql}.{mode}.ado")!;

    /// <returns>The reason why the fault did not fire.</returns>
    private async Task<string?> InjectAsync(TransactionMode mode, Injection injection)
    {
        var cell = In(mode);
        await using var testbed = await Testbed.CreateAsync(cell, servers, CancellationToken.None);
        await using var scene = new FaultScene(cell, Guid.CreateVersion7(), testbed, servers, TimeSpan.Zero, TestContext.Out.WriteLine);
        return await injection.InjectAsync(scene, CancellationToken.None);
    }

    private static async Task<bool> AreAllTakenAsync(NpgsqlDataSource source)
    {
        await using var command = source.CreateCommand(
            "SELECT count(*) = current_setting('max_prepared_transactions')::int FROM pg_prepared_xacts");
        return await command.ExecuteScalarAsync() is true;
    }

    private static async Task ExecuteAsync(NpgsqlDataSource source, string statements)
    {
        await using var connection = await source.OpenConnectionAsync();
        await using var batch = new NpgsqlBatch(connection);
        foreach (var statement in statements.Split("; "))
            batch.BatchCommands.Add(new NpgsqlBatchCommand(statement));
        await batch.ExecuteNonQueryAsync();
    }
}
