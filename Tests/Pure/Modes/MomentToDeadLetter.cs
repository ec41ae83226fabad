using Kit.Endpoints.Cells;
using Kit.Modes;

namespace Kit.Tests.Modes;

/// <summary>The axis of the moment at which a message is moved to the error queue.</summary>
public sealed class MomentToDeadLetter
{
    private static readonly RebusOnPostgreSql Rebus = new();

    [Test]
    public void Is_offered_where_the_framework_offers_it()
    {
        using (Assert.EnterMultipleScope())
        {
            Assert.That(SupportOn(Rebus).IsSupported, Is.True);
            Assert.That(SupportOn(new BareOnPostgreSql()).Because, Is.EqualTo("only Rebus offers the choice"));
        }
    }

    [Test]
    public void Is_left_out_of_a_name_where_it_is_the_frameworks_default()
    {
        using (Assert.EnterMultipleScope())
        {
            Assert.That(new Cell(Rebus, TransactionMode.Shared).Name, Is.EqualTo("rebus.postgresql.shared.ado"));
            Assert.That(Cell.Find("rebus.postgresql.shared.ado.next-delivery"), Has.Property(nameof(Cell.DeadLettersNext)).EqualTo(true));
        }
    }

    [Test]
    public void Is_an_axis_of_faults_too() =>
        Assert.That(new Cell(Rebus, TransactionMode.Shared) { DeadLettersNext = true }.IsOfExperiments, Is.True);

    private static Support SupportOn(IEndpointKind kind) => new Cell(kind, TransactionMode.Shared) { DeadLettersNext = true }.Support;
}
