using Kit.Endpoints.Cells;
using Kit.Guarantees;

namespace Kit.Tests.Contract;

public sealed class HandlerThrowsBeforeItsInsert(Cell cell) : ContractTest(cell)
{
    [Test]
    public Task Nothing_of_the_first_attempt_is_left() => Expect(Situation.ThrowsOnceBeforeInsert);
}
