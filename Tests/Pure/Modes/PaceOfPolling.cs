using Kit.Endpoints.Cells;
using Kit.Modes;

namespace Kit.Tests.Modes;

/// <summary>The axis of the pace at which a queue in a database is asked for messages.</summary>
public sealed class PaceOfPolling
{
    private static readonly WolverineOnPostgreSql Wolverine = new();

    [Test]
    public void Is_offered_where_the_frameworks_default_would_be_all_that_is_measured()
    {
        using (Assert.EnterMultipleScope())
        {
            Assert.That(SupportOn(Wolverine).IsSupported, Is.True);
            Assert.That(SupportOn(new RebusOnPostgreSql()).Because, Is.EqualTo("only Wolverine on PostgreSQL has a second row for it"));
        }
    }

    [Test]
    public void Is_an_axis_of_faults_too() => Assert.That(Cell.Find("wolverine.postgresql.outbox.ado.often")!.IsOfExperiments, Is.True);

    [Test]
    public void Leaves_rows_where_the_framework_needs_them()
    {
        using (Assert.EnterMultipleScope())
        {
            Assert.That(new Cell(Wolverine, TransactionMode.Outbox).NeedsOneDatabase, Is.True, "the inbox is next to the rows");
            Assert.That(new Cell(Wolverine, TransactionMode.ScopeOff).NeedsOneDatabase, Is.False);
            Assert.That(new Cell(new BareOnPostgreSql(), TransactionMode.Outbox).NeedsOneDatabase, Is.False);
        }
    }

    private static Support SupportOn(IEndpointKind kind) => new Cell(kind, TransactionMode.ScopeOff) { PollsOften = true }.Support;
}
