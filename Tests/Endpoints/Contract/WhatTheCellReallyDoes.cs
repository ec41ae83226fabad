using Kit.Endpoints.Cells;

namespace Kit.Tests.Contract;

[TestFixtureSource(typeof(ContractCells), nameof(ContractCells.All))]
public sealed class WhatTheCellReallyDoes(Cell cell) : ContractTest(cell)
{
    [Test]
    public async Task The_probe_finds_what_the_label_says()
    {
        var result = await CellProbe.RunAsync(Cell, Bench.Settings with { Queue = "probe" }, CancellationToken.None);

        Assert.That(result.Disagreements, Is.Empty);
        Assert.That(result.Order, Is.EqualTo(Cell.Mode.CommitOrder));
        Assert.That(result.MostTogether, Is.EqualTo(2));
        // {"MessageId":"…"}: the same body on every transport.
        Assert.That(result.BodyBytes, Is.EqualTo(52));
    }
}
