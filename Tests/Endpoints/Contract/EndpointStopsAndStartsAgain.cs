using Kit.Endpoints.Cells;
using Kit.Guarantees;
using Kit.Modes;

namespace Kit.Tests.Contract;

public sealed class EndpointStopsAndStartsAgain(Cell cell) : ContractTest(cell)
{
    /// <summary>
    /// RabbitMQ without acknowledgements pushes its whole backlog at once, and nobody else has it. The bare endpoint handles it before it stops;
    /// MassTransit drops it, and has no setting for that: a stop is a loss there, as a crash is.
    /// </summary>
    private bool HasWholeBacklog => Cell.Kind.Transport == "rabbitmq" && Cell.Mode == TransactionMode.TransactionsOff;

    private bool DropsBacklog => HasWholeBacklog && Cell.Kind.Framework == "masstransit";

    [Test]
    public async Task What_is_under_way_is_finished_first_no_other_is_begun_and_what_was_left_is_handled_after_the_next_start()
    {
        const int Begun = 20;
        var messages = await Bench.SendAsync(Situation.HandlerSucceeds, count: 200);
        Bench.HoldHandlers();
        Bench.LetThrough(Begun - 2);
        await Bench.StartAsync();
        await Bench.EnteredAsync(Begun);

        await StopWithHeldHandlersAsync();

        Assert.That(await Bench.CountRowsAsync(), Is.EqualTo(HasWholeBacklog && !DropsBacklog ? messages.Count : Begun));
        Assert.That(await Bench.CountQueueAsync(), Is.EqualTo(HasWholeBacklog ? 0 : messages.Count - Begun));
        if (DropsBacklog)
            return;

        await Bench.DrainAsync();

        Assert.That(await Bench.ObserveAsync(messages), Is.All.EqualTo(Expectation.Of(Cell.Mode, Situation.HandlerSucceeds)));
    }

    private async Task StopWithHeldHandlersAsync()
    {
        // Rebus waits in the thread that stops it.
        var stopping = Task.Run(Bench.StopAsync);
        // For the word to reach the workers and, where there is one, the broker.
        await Task.Delay(TimeSpan.FromSeconds(1));
        Assert.That(stopping.IsCompleted, Is.False, "waits for the handlers");
        Bench.ReleaseHandlers();
        await stopping;
    }
}
