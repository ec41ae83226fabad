using Kit.Endpoints.Cells;
using Kit.Modes;

namespace Kit.Tests.Contract;

/// <summary>One situation of the contract, for one cell.</summary>
[TestFixtureSource(typeof(ContractCells), nameof(ContractCells.All))]
public abstract class ContractTest(Cell cell)
{
    private CellBench bench = null!;

    protected Cell Cell { get; } = cell;

    protected private CellBench Bench => bench;

    [SetUp]
    public async Task SetUp()
    {
        if (Cell.Support.Because is { } reason)
            Assert.Ignore(reason);

        bench = await CellBench.CreateAsync(Cell);
    }

    [TearDown]
    public async Task TearDown()
    {
        if (bench is not null)
            await bench.DisposeAsync();
    }

    /// <summary>Handles one message in a situation and compares what is there afterwards with what the mode promises.</summary>
    protected async Task Expect(Situation situation)
    {
        var message = await Bench.SendAsync(situation);

        await Bench.DrainAsync();

        Assert.That(await Bench.ObserveAsync(message), Is.EqualTo(Expectation.Of(Cell.Mode, situation)));
        Assert.That(await Bench.CountPreparedAsync(), Is.Zero, "prepared transactions left");
    }
}
