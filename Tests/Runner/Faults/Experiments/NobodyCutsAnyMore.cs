using Kit.Endpoints.Cells;
using Kit.Runner.Faults.Injections;
using Kit.Runner.Faults.Testbeds;
using Kit.Runner.Results.Accounts;
using Kit.Runner.Stage.Transports;

namespace Kit.Tests.Faults.Experiments;

/// <summary>An experiment that has ended its cuts, and an attempt that begins after that and would wait for one.</summary>
[Parallelizable]
public sealed class NobodyCutsAnyMore
{
    [Test]
    public async Task The_attempt_goes_on_and_its_endpoint_stops()
    {
        PostgreSqlServer.IgnoreWithoutPrograms();
        var message = Guid.CreateVersion7();
        var cell = Cell.All.Single(one => one.Name == "bare.postgresql.dtc-off.ado");
        await using var servers = await ServersInUse.StartAsync(Transport.NeededBy([Transport.Of(cell)]), CancellationToken.None);
        await using var testbed = await Testbed.CreateAsync(cell, servers, CancellationToken.None);
        await testbed.StartHandlerAsync(message, new ReceiveLost().Script, CancellationToken.None);

        testbed.LetGoOfAll();
        await testbed.SendAsync([message], CancellationToken.None);

        await Eventually.HoldsAsync(() => HasWaited(testbed, message), "the attempt waits for a cut");
        await testbed.StopHandlerAsync(CancellationToken.None);
        Assert.That(testbed.Journal.LinesOf(message).Select(line => line.Point), Does.Contain(AttemptPoint.Returned));
    }

    private static bool HasWaited(Testbed testbed, Guid message) => testbed.Journal.LinesOf(message).Any(line => line.Point is AttemptPoint.Faulted);
}
