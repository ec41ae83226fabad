using Kit.Endpoints.Cells;
using Kit.Modes;

namespace Kit.Tests.Contract;

public sealed class EndpointStopsAndStartsAgain(Cell cell) : ContractTest(cell)
{
    [Test]
    public async Task A_message_under_way_is_finished_first_and_no_other_is_begun()
    {
        var messages = await Bench.SendAsync(Situation.HandlerSucceeds, count: 20);
        Bench.HoldHandlers();
        await Bench.StartAsync();
        await Bench.EnteredAsync(2);

        var stopping = Bench.StopAsync();
        await Task.Delay(100);
        Assert.That(stopping.IsCompleted, Is.False, "waits for the handlers");
        Bench.ReleaseHandlers();
        await stopping;

        Assert.That(await Bench.CountRowsAsync(), Is.EqualTo(2));
        Assert.That(await Bench.CountQueueAsync(), Is.EqualTo(messages.Count - 2));
    }

    [Test]
    public async Task What_was_left_is_handled_after_the_next_start()
    {
        var messages = await Bench.SendAsync(Situation.HandlerSucceeds, count: 200);
        await Bench.StartAsync();
        await Bench.EnteredAsync(20);
        await Bench.StopAsync();
        Assert.That(await Bench.CountQueueAsync(), Is.GreaterThan(0), "stopped in the middle");

        await Bench.DrainAsync();

        foreach (var message in messages)
            Assert.That(await Bench.ObserveAsync(message), Is.EqualTo(Expectation.Of(Cell.Mode, Situation.HandlerSucceeds)));
    }
}
