using Kit.Endpoints.Cells;
using Kit.Guarantees;

namespace Kit.Tests.Contract;

[TestFixtureSource(typeof(ContractCells), nameof(ContractCells.All))]
public sealed class HandlerSucceeds(Cell cell) : ContractTest(cell)
{
    [Test]
    public Task One_row_one_sent_message_and_nothing_left() => Expect(Situation.HandlerSucceeds);
}
