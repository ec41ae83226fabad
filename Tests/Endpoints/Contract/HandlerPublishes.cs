using Kit.Endpoints.Cells;
using Kit.Guarantees;

namespace Kit.Tests.Contract;

/// <summary>What a mode promises for a message that a handler sends, it promises for an event in the queue of each subscriber.</summary>
[TestFixtureSource(typeof(ContractCells), nameof(ContractCells.Few))]
public sealed class HandlerPublishes(Cell cell) : ContractTest(cell)
{
    protected override int? Subscribers => 3;

    [Test]
    public Task An_event_arrives_once_in_each_subscribers_queue() => Expect(Situation.HandlerSucceeds);

    [Test]
    public Task An_event_of_a_failed_attempt_goes_out_only_where_sends_go_at_once() => Expect(Situation.ThrowsOnceAfterSend);
}
