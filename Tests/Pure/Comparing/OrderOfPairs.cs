using Kit.Runner.Results;
using Kit.Runner.Rounds.Comparing;
using Kit.Runner.Servers;
using Kit.Runner.Stage.Transports;
using Kit.Tests.Results.Comparing;

namespace Kit.Tests.Comparing;

public sealed class OrderOfPairs
{
    private static readonly CellName[] Cells = [.. new[] { "full-dtc", "dtc-off", "scope-off" }.Select(mode => InventedRun.Cell(mode))];

    [Test]
    public void Each_round_has_every_cell_once()
    {
        foreach (var round in Plan(seed: 7).Order(Cells).GroupBy(pair => pair.Round))
            Assert.That(round.Select(pair => pair.Cell), Is.EquivalentTo(Cells));
    }

    [Test]
    public void The_builds_take_turns_in_going_first()
    {
        foreach (var cell in Plan(seed: 7).Order(Cells).GroupBy(pair => pair.Cell))
        {
            var first = cell.Select(pair => pair.IsAfterFirst).ToList();
            Assert.That(first.Zip(first.Skip(1), (one, next) => one != next), Is.All.True);
            Assert.That(first, Has.Count.EqualTo(10).And.Exactly(5).True);
        }
    }

    [Test]
    public void It_is_drawn_from_its_seed()
    {
        var (once, again) = (Plan(seed: 7).Order(Cells).ToList(), Plan(seed: 7).Order(Cells).ToList());
        var other = Plan(seed: 8).Order(Cells).ToList();

        using (Assert.EnterMultipleScope())
        {
            Assert.That(again, Is.EqualTo(once));
            Assert.That(other, Is.Not.EqualTo(once));
        }
    }

    private static ComparePlan Plan(int seed) => new(
        new Build("before", "1", "a"), new Build("after", "1", "b"), [], new HashSet<Transport>(),
        new RunSettings(Messages: 1, Rounds: 10, Concurrency: 2, SeedRows: 0, WarmUp: 0, OrderSeed: seed, Quick: false),
        TransportArguments.None, InventedSides.NoGate, "results", "compare");
}
