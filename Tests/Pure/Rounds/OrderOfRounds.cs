using Kit.Endpoints.Cells;
using Kit.Modes;
using Kit.Runner.Results;
using Kit.Runner.Rounds;
using Kit.Runner.Stage.Transports;

namespace Kit.Tests.Rounds;

[Parallelizable]
public sealed class OrderOfRounds
{
    [Test]
    public void Each_round_has_every_cell_that_can_run_once()
    {
        var plan = Plan(orderSeed: 1);
        var runnable = plan.Runnable.ToHashSet();
        Assert.That(runnable, Has.Count.EqualTo(plan.Runnable.Count));

        foreach (var round in plan.Order(plan.Runnable).GroupBy(each => each.Round, each => each.Cell))
        {
            Assert.That(round.Count(), Is.EqualTo(runnable.Count));
            Assert.That(runnable.SetEquals(round), Is.True);
        }

        Assert.That(plan.Order(plan.Runnable).Select(each => each.Round).Distinct(), Is.EqualTo([1, 2, 3, 4, 5]));
    }

    [Test]
    public void The_same_seed_gives_the_same_order()
    {
        var again = Plan(orderSeed: 7);

        Assert.That(again.Order(Cell.All), Is.EqualTo(Order(orderSeed: 7)));
    }

    [Test]
    public void Another_seed_gives_another_order() =>
        Assert.That(Order(orderSeed: 8), Is.Not.EqualTo(Order(orderSeed: 7)));

    [Test]
    public void Rounds_differ_in_their_order()
    {
        var orders = Order(orderSeed: 7).GroupBy(each => each.Round, each => each.Cell.Name).Select(round => string.Join(' ', round));

        Assert.That(orders.Distinct().Count(), Is.GreaterThan(1));
    }

    [Test]
    public void Cells_on_rabbitmq_cannot_run_where_there_is_no_broker()
    {
        var rabbitMq = Transport.Named(TransportName.RabbitMq);
        var plan = Plan(orderSeed: 7) with
        {
            Here = Transport.All.ToDictionary(one => one, one => one == rabbitMq ? Support.No("no broker on this machine") : Support.Yes),
        };
        var named = Plan(orderSeed: 7, TransportArguments.None.With(rabbitMq.Server!, "amqp://elsewhere"));
        var cells = Cell.All.Where(cell => cell.Kind.Transport == TransportName.RabbitMq && cell.Support.IsSupported).ToList();

        using (Assert.EnterMultipleScope())
        {
            Assert.That(plan.Runnable, Is.Not.Empty.And.None.Matches<Cell>(cell => cell!.Kind.Transport == TransportName.RabbitMq));
            Assert.That(cells.Select(cell => plan.SupportOf(cell).Because), Is.Not.Empty.And.All.EqualTo("no broker on this machine"));
            Assert.That(cells.Except(named.Runnable), Is.Empty);
        }
    }

    private static IEnumerable<(Cell Cell, int Round)> Order(int orderSeed) => Plan(orderSeed).Order(Cell.All);

    private static RunPlan Plan(int orderSeed, TransportArguments? arguments = null) => new(
        Cell.All,
        new RunSettings(Messages: 1, Rounds: 5, Concurrency: 1, SeedRows: 0, WarmUp: 0, orderSeed, Quick: false),
        arguments ?? TransportArguments.None,
        RepeatNoisy: false,
        Folder: "nowhere",
        CommandLine: "run");
}
