using Kit.Endpoints.Cells;
using Kit.Guarantees;

namespace Kit.Tests.Contract;

[TestFixtureSource(typeof(ContractCells), nameof(ContractCells.All))]
public sealed class HandlerThrowsAfterItsInsert(Cell cell) : ContractTest(cell)
{
    [Test]
    public Task The_insert_of_the_first_attempt_is_kept_or_rolled_back_as_the_mode_says() => Expect(Situation.ThrowsOnceAfterInsert);
}
