using Kit.Endpoints.Cells;
using Kit.Runner.Faults.Injections;
using Kit.Runner.Faults.Testbeds;
using Kit.Runner.Results.Accounts;
using Kit.Runner.Results.Faults;
using Kit.Runner.Results.Points;
using Kit.Runner.Stage;
using Kit.Runner.Stage.Transports;
using Kit.Runner.Wire;

namespace Kit.Tests.Faults.Experiments;

/// <summary>A process is killed at known moments of two-phase commit, and the watch of a storm tells each by its window.</summary>
[Parallelizable]
public sealed class WindowsOfAKill
{
    private static readonly Cell Cell = Cell.Find("bare.postgresql.full-dtc.ado")!;

    [Test]
    public async Task Are_told_one_by_one()
    {
        PostgreSqlServer.IgnoreWithoutPrograms();
        await using var servers = await ServersInUse.StartAsync([Transport.Of(Cell)], CancellationToken.None);
        var gate = new RequestGate();
        await using var testbed = await Testbed.CreateAsync(Cell, servers, CancellationToken.None, gate: gate);

        var parked = Guid.CreateVersion7();
        await testbed.StartHandlerAsync(parked, HandlerScript.None with { ParksAt = AttemptPoint.AfterFirstInsert }, CancellationToken.None);
        await testbed.SendAsync([parked], CancellationToken.None);
        await Eventually.HoldsAsync(
            () => testbed.Journal.LinesOf(parked).Any(line => line.Point is AttemptPoint.Faulted), "the handler waits to be killed");
        Assert.That(await KillAsync(testbed, gate), Is.EqualTo(new WindowsMet(BeforePrepare: 1, Prepared: 0, Decided: 0, NoneOpen: 0)));

        await StartAsync(testbed);
        await HandledAsync(testbed, messages: 1);
        Assert.That(await KillAsync(testbed, gate), Is.EqualTo(new WindowsMet(1, 0, 0, NoneOpen: 1)), "the handler of the kill before is still in the journal");

        await StartAsync(testbed);
        await MeetAsync(testbed, gate, new MarkedRequest { Text = MarkedRequest.Prepare });
        Assert.That(await KillAsync(testbed, gate), Is.EqualTo(new WindowsMet(1, Prepared: 1, 0, 1)));

        await StartAsync(testbed);
        await HandledAsync(testbed, messages: 2);
        await MeetAsync(testbed, gate, OnTheWire.EndOfReceive(Cell, Guid.Empty));
        Assert.That(await KillAsync(testbed, gate), Is.EqualTo(new WindowsMet(1, 1, Decided: 1, 1)));
    }

    private static Task StartAsync(Testbed testbed) => testbed.StartHandlerAsync(Guid.Empty, HandlerScript.None, CancellationToken.None);

    private static Task HandledAsync(Testbed testbed, int messages) => Eventually.HoldsAsync(
        async () => await testbed.CountAsync(CancellationToken.None) is { AreDone: true } now && now.Sink == messages,
        $"{messages} messages are handled, and nothing is prepared");

    private static async Task MeetAsync(Testbed testbed, RequestGate gate, MarkedRequest request)
    {
        gate.Arm(request, PointWay.Killed);
        await testbed.SendAsync([Guid.CreateVersion7()], CancellationToken.None);
        await Eventually.HoldsAsync(() => gate.Fired.IsCompleted, $"the endpoint asks for {request}");
    }

    private static async Task<WindowsMet> KillAsync(Testbed testbed, RequestGate gate)
    {
        await testbed.KillHandlerAsync();
        gate.Release();
        await testbed.Windows!.LookAsync(CancellationToken.None);
        return testbed.Windows.Met;
    }
}
