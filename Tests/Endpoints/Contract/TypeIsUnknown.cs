using Kit.Endpoints.Cells;
using Kit.Guarantees;

namespace Kit.Tests.Contract;

[TestFixtureSource(typeof(ContractCells), nameof(ContractCells.Few))]
public sealed class TypeIsUnknown(Cell cell) : ContractTest(cell)
{
    [Test]
    public Task To_the_error_queue_without_an_attempt() => Expect(Situation.OfUnknownType);
}
