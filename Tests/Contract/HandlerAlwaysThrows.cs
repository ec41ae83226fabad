using Kit.Endpoints.Cells;
using Kit.Modes;

namespace Kit.Tests.Contract;

public sealed class HandlerAlwaysThrows(Cell cell) : ContractTest(cell)
{
    [Test]
    public Task To_the_error_queue_after_the_last_attempt() => Expect(Situation.AlwaysThrowsAfterInsert);
}
