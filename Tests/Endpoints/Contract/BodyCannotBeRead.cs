using Kit.Endpoints.Cells;
using Kit.Guarantees;

namespace Kit.Tests.Contract;

[TestFixtureSource(typeof(ContractCells), nameof(ContractCells.Few))]
public sealed class BodyCannotBeRead(Cell cell) : ContractTest(cell)
{
    [Test]
    public Task To_the_error_queue_without_an_attempt() => Expect(Situation.Unreadable);

    [Test]
    public async Task The_reason_is_with_it_and_the_messages_behind_it_are_handled()
    {
        await Bench.SendAsync(Situation.Unreadable);
        var behind = await Bench.SendAsync(Situation.HandlerSucceeds);

        await Bench.DrainAsync();

        Assert.That((await Bench.ReadErrorsAsync()).Single().Reason, Does.Contain("JSON").IgnoreCase);
        Assert.That(await Bench.ObserveAsync(behind), Is.EqualTo(Expectation.Of(Cell.Mode, Situation.HandlerSucceeds)));
    }
}
