using Kit.Endpoints.Cells;
using Kit.Guarantees;
using Kit.Modes;

namespace Kit.Tests.Contract;

[TestFixtureSource(typeof(ContractCells), nameof(ContractCells.Few))]
public sealed class EndpointStopsAndStartsAgain(Cell cell) : ContractTest(cell)
{
    /// <summary>
    /// RabbitMQ without acknowledgements pushes its whole backlog at once, and nobody else has it. The bare endpoint handles it before it stops;
    /// MassTransit drops it, and has no setting for that: a stop is a loss there, as a crash is.
    /// </summary>
    private bool HasWholeBacklog => Cell.Kind.Transport == "rabbitmq" && Cell.Mode == TransactionMode.TransactionsOff;

    private bool DropsBacklog => HasWholeBacklog && Cell.Kind.Framework == "masstransit";

    /// <summary>
    /// An inline listener of Wolverine returns what was prefetched as copies while it stops, and can close its channel before it has acknowledged the last of
    /// them, which the broker then returns, too. See the limits on RabbitMQ in docs/guides/frameworks.md.
    /// </summary>
    private bool CanDoublePrefetched => Cell is { Kind.Framework: "wolverine", Kind.Transport: "rabbitmq", Mode.Name: "scope-off" };

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
        var left = HasWholeBacklog ? 0 : messages.Count - Begun;
        Assert.That(await Bench.CountQueueAsync(), CanDoublePrefetched ? Is.InRange(left, left + Bench.Settings.Concurrency) : Is.EqualTo(left));
        if (DropsBacklog)
            return;

        await Bench.DrainAsync();

        var expected = Expectation.Of(Cell.Mode, Situation.HandlerSucceeds);
        var observed = await Bench.ObserveAsync(messages);
        if (CanDoublePrefetched)
            Assert.That(observed, Is.All.Matches<Expectation>(one => one == expected || one == expected with { Rows = 2, Sent = 2, Attempts = 2 }));
        else
            Assert.That(observed, Is.All.EqualTo(expected));
    }

    private async Task StopWithHeldHandlersAsync()
    {
        // Rebus waits in the thread that stops it.
        var stopping = Task.Run(Bench.StopAsync);
        await Bench.ToldToStopAsync();
        // For the word to reach the workers and, where there is one, the broker.
        await Task.Delay(TimeSpan.FromSeconds(2));
        Assert.That(stopping.IsCompleted, Is.False, "waits for the handlers");
        Bench.ReleaseHandlers();
        await stopping;
    }
}
