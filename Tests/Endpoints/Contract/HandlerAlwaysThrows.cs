using Kit.Endpoints.Cells;
using Kit.Guarantees;

namespace Kit.Tests.Contract;

[TestFixtureSource(typeof(ContractCells), nameof(ContractCells.All))]
public sealed class HandlerAlwaysThrows(Cell cell) : ContractTest(cell)
{
    [Test]
    public Task To_the_error_queue_after_the_last_attempt() => Expect(Situation.AlwaysThrowsAfterInsert);

    [Test]
    public async Task Two_at_a_time_each_message_gets_its_attempts_and_no_message_is_lost()
    {
        var messages = await Bench.SendAsync(Situation.AlwaysThrowsAfterInsert, count: 20);

        await Bench.DrainAsync();

        foreach (var message in messages)
        {
            var observed = await Bench.ObserveAsync(message);
            Assert.That(observed, Has.Property("Errors").EqualTo(1).And.Property("Attempts").InRange(Cell.Mode.Attempts, MostAttempts(Cell.Mode.Attempts)));
        }
    }
}
