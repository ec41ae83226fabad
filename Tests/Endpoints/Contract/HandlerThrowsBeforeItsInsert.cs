using Kit.Endpoints.Cells;
using Kit.Guarantees;

namespace Kit.Tests.Contract;

[TestFixtureSource(typeof(ContractCells), nameof(ContractCells.Few))]
public sealed class HandlerThrowsBeforeItsInsert(Cell cell) : ContractTest(cell)
{
    [Test]
    public Task Nothing_of_the_first_attempt_is_left() => Expect(Situation.ThrowsOnceBeforeInsert);
}
