using Kit.Endpoints.Cells;
using Kit.Guarantees;

namespace Kit.Tests.Contract;

[TestFixtureSource(typeof(ContractCells), nameof(ContractCells.Few))]
public sealed class TwoAtATime(Cell cell) : ContractTest(cell)
{
    [Test]
    public async Task Two_handlers_run_together_and_never_three()
    {
        await Bench.SendAsync(Situation.HandlerSucceeds, count: 100);
        Bench.HoldHandlers();
        await Bench.StartAsync();
        await Bench.EnteredAsync(2);
        await Task.Delay(200);
        Assert.That(Bench.Entered, Is.EqualTo(2), "a third was entered while two were held");

        Bench.ReleaseHandlers();
        await Bench.DrainAsync();

        Assert.That(Bench.MostTogether, Is.EqualTo(2));
        Assert.That(await Bench.CountRowsAsync(), Is.EqualTo(100));
    }
}
