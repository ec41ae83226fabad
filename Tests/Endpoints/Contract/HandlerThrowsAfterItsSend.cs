using Kit.Endpoints.Cells;
using Kit.Guarantees;

namespace Kit.Tests.Contract;

[TestFixtureSource(typeof(ContractCells), nameof(ContractCells.All))]
public sealed class HandlerThrowsAfterItsSend(Cell cell) : ContractTest(cell)
{
    [Test]
    public Task The_send_of_a_failed_attempt_goes_out_only_where_sends_go_at_once() => Expect(Situation.ThrowsOnceAfterSend);
}
