using Kit.Endpoints.Cells;
using Kit.Guarantees;
using Kit.Tests.Contract;

namespace Kit.Tests.Wolverine;

/// <summary>Wolverine stores what a handler sends, before it dispatches it. <c>scope-off</c>: docs/upstream/wolverine-drops-send.cs.</summary>
[Parallelizable]
public sealed class SendCannotBeStored
{
    [Test]
    public async Task In_outbox_the_attempt_fails_and_leaves_nothing()
    {
        const int attempts = 3;
        var cell = Cell.Find("wolverine.postgresql.outbox.ado.often")!;
        await using var bench = await CellBench.CreateAsync(cell);
        await TestDatabases.ExecuteAsync(
            bench.Settings.Transport,
            $"""
             CREATE SEQUENCE tries;
             CREATE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql AS $$
             BEGIN
                 PERFORM nextval('tries');
                 RAISE EXCEPTION 'The test refuses this.';
             END $$;
             CREATE TRIGGER refusing BEFORE INSERT ON {cell.Kind.OutboxTableOf(cell.Mode, cell.Name)} FOR EACH ROW EXECUTE FUNCTION refuse()
             """);
        var message = await bench.SendAsync(Situation.HandlerSucceeds);

        await bench.DrainAsync();

        Assert.That(await bench.ObserveAsync(message), Is.EqualTo(new Expectation(Rows: 0, Sent: 0, Errors: 1, attempts)));
        Assert.That(await TestDatabases.ScalarAsync(bench.Settings.Transport, "SELECT last_value::int FROM tries"), Is.EqualTo(attempts));
    }
}
