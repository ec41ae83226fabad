using Kit.Endpoints.Cells;
using Kit.Runner.Stage;

namespace Kit.Tests.Rounds;

/// <summary>How many handlers and connections a cell has, by its name.</summary>
[Parallelizable]
public sealed class LimitsOfACell
{
    [TestCase("bare.postgresql.shared.ado", null, 100)]
    [TestCase("bare.postgresql.shared.ado.3-handlers", 3, 100)]
    [TestCase("bare.postgresql.shared.ado.51200B.1-handler.250-connections", 1, 250)]
    public void A_name_says_its_limits(string name, int? handlers, int connections)
    {
        var cell = Cell.Find(name)!;

        Assert.That((cell.Name, cell.Limits), Is.EqualTo((name, new HandlerLimits(handlers, connections))));
    }

    [TestCase("bare.postgresql.shared.ado.1-handlers")]
    [TestCase("bare.postgresql.shared.ado.many-handlers")]
    [TestCase("bare.postgresql.shared.ado.bogus")]
    public void Another_name_is_of_no_cell(string name) => Assert.That(Cell.Find(name), Is.Null);

    [TestCase("bare.postgresql.dtc-off.ado", 20, 20 + 20 + 2 + 5)]
    [TestCase("bare.postgresql.full-dtc.ado", 20, 20 + 20 + 5 + 5)]
    [TestCase("bare.postgresql.shared.ado", 20, 20 + 2 + 5)]
    [TestCase("bare.postgresql.dtc-off.ado.4-processes", 20, (4 * (20 + 20 + 2)) + 5)]
    [TestCase("bare.rabbitmq.dtc-off.ado", 20, 20 + 2 + 5)]
    [TestCase("masstransit.rabbitmq.dtc-off.ado.5-connections", 20, 5 + 2 + 5)]
    public void Connections_are_counted_for_handlers_and_receives(string name, int concurrency, int connections) =>
        Assert.That(ConnectionNeeds.Of(Cell.Find(name)!, concurrency)!.Total, Is.EqualTo(connections));
}
