using Kit.Endpoints.Cells;
using Kit.Guarantees;
using Kit.Tests.Contract;

namespace Kit.Tests.Wolverine;

/// <summary>
/// Wolverine stores what a handler sends, before it dispatches it: finding 20 in docs/reference/findings.md. When <c>scope-off</c> fails here, a version of
/// Wolverine has mended it, and the limit in FactsOfWolverine.cs can go.
/// </summary>
[Parallelizable]
public sealed class SendCannotBeStored
{
    [TestCase("scope-off", 1, 0, 1, 4, TestName = "In scope-off it is dropped, and the message counts as handled")]
    [TestCase("outbox", 0, 1, 3, 3, TestName = "In outbox the attempt fails, and leaves nothing")]
    public async Task As_the_mode_says(string mode, int rows, int errors, int attempts, int tries)
    {
        var cell = Cell.Find($"wolverine.postgresql.{mode}.ado.often")!;
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
             CREATE TRIGGER refusing BEFORE INSERT ON {cell.Kind.OutboxTableOf(cell.Name)} FOR EACH ROW EXECUTE FUNCTION refuse()
             """);
        var message = await bench.SendAsync(Situation.HandlerSucceeds);

        await bench.DrainAsync();

        Assert.That(await bench.ObserveAsync(message), Is.EqualTo(new Expectation(rows, Sent: 0, errors, attempts)));
        Assert.That(await TestDatabases.ScalarAsync(bench.Settings.Transport, "SELECT last_value::int FROM tries"), Is.EqualTo(tries));
    }
}
