using Kit.Endpoints.Cells;
using Kit.Guarantees;

namespace Kit.Tests.Contract;

/// <summary>What a mode promises for a message that a handler sends, it promises for a reply, in the queue that its request names.</summary>
[TestFixtureSource(typeof(ContractCells), nameof(ContractCells.Few))]
public sealed class HandlerReplies(Cell cell) : ContractTest(cell)
{
    protected override int? Requesters => 2;

    [Test]
    public async Task A_reply_arrives_once_in_the_queue_of_its_requester_and_in_no_other()
    {
        IReadOnlyList<Guid> requests =
        [
            await Bench.AskAsync(Situation.HandlerSucceeds, requester: 0),
            await Bench.AskAsync(Situation.HandlerSucceeds, requester: 1),
        ];

        await Bench.DrainAsync();

        Assert.That(
            await Bench.ObserveAsync(requests), Is.EqualTo(Enumerable.Repeat(Expectation.Of(Cell.Mode, Situation.HandlerSucceeds), requests.Count)));
    }

    [Test]
    public async Task A_reply_of_a_failed_attempt_goes_out_only_where_sends_go_at_once() =>
        await Expect(Situation.ThrowsOnceAfterSend, await Bench.AskAsync(Situation.ThrowsOnceAfterSend, requester: 1));

    [Test]
    public async Task A_request_that_is_given_up_leaves_nothing_with_its_requester()
    {
        await Expect(Situation.AlwaysThrowsAfterInsert, await Bench.AskAsync(Situation.AlwaysThrowsAfterInsert, requester: 0));

        Assert.That(await Bench.CountSinksAsync(), Is.Zero);
    }

    [Test]
    public async Task A_request_without_an_address_is_given_up_and_says_why()
    {
        var request = await Bench.AskAsync(Situation.HandlerSucceeds, requester: null);

        // The reply fails each time, after the insert.
        await Expect(Situation.AlwaysThrowsAfterInsert, request);

        Assert.That(
            (await Bench.ReadErrorsAsync()).Single().Reason,
            Does.Contain("Expected the queue for a reply").Or.Contain("Expected a response address").Or.Contain("No `ReplyToAddress` found")
                .Or.Contain("Could not get the return address"));
    }
}
