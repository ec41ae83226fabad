using System.Diagnostics.Metrics;
using Kit.Endpoints.Cells;
using Kit.Runner.Stage;

namespace Kit.Tests.Rounds;

/// <summary>What a round reads of the metrics that an endpoint's packages publish.</summary>
[Parallelizable]
public sealed class MetricsOfAnEndpoint
{
    private readonly string meterName = $"Kit.Tests.{Guid.NewGuid()}";

    [Test]
    public void Each_measurement_goes_to_its_phase_in_milliseconds()
    {
        using var meter = new Meter(meterName);
        using var listener = Listen(expected: 2);
        var operation = meter.CreateHistogram<double>("operation", "s");
        var handler = meter.CreateHistogram<double>("handler", "ms");

        operation.Record(0.001, Tag("receive"));
        operation.Record(0.002, Tag("settle"));
        operation.Record(0.003, Tag("peek"));
        operation.Record(0.004);
        handler.Record(5);
        meter.CreateHistogram<double>("other", "s").Record(6);

        using (Assert.EnterMultipleScope())
        {
            Assert.That(listener.Of(MessagePhase.Receive), Has.Property("Count").EqualTo(1).And.Property("P50Milliseconds").EqualTo(1));
            Assert.That(listener.Of(MessagePhase.Commit), Has.Property("Count").EqualTo(1).And.Property("P50Milliseconds").EqualTo(2));
            Assert.That(listener.Of(MessagePhase.Handler), Has.Property("Count").EqualTo(1).And.Property("P50Milliseconds").EqualTo(5));
            Assert.That(listener.Of(MessagePhase.SecondPhase), Is.Null);
        }
    }

    [Test]
    public void More_than_were_expected_are_kept()
    {
        using var meter = new Meter(meterName);
        using var listener = Listen(expected: 3);
        var handler = meter.CreateHistogram<double>("handler", "ms");

        Parallel.For(1, 1_001, value => handler.Record(value));

        Assert.That(
            listener.Of(MessagePhase.Handler),
            Has.Property("Count").EqualTo(1_000).And.Property("P50Milliseconds").EqualTo(500.5).And.Property("MaxMilliseconds").EqualTo(1_000));
    }

    // The warm-up has a listener of its own.
    [Test]
    public void What_comes_before_and_after_is_not_counted()
    {
        using var meter = new Meter(meterName);
        var handler = meter.CreateHistogram<double>("handler", "ms");
        handler.Record(1);
        var listener = Listen(expected: 10);
        handler.Record(2);
        listener.Dispose();
        handler.Record(3);

        Assert.That(listener.Of(MessagePhase.Handler), Has.Property("Count").EqualTo(1).And.Property("MaxMilliseconds").EqualTo(2));
    }

    [Test]
    public void An_instrument_that_another_one_needs_is_on_and_not_counted()
    {
        using var meter = new Meter(meterName);
        using var listener = new PhaseListener([new(MessagePhase.Handler, meterName, "handler") { OnlyWith = "handled" }], expected: 1);
        var (handled, other) = (meter.CreateHistogram<double>("handled", "{message}"), meter.CreateCounter<long>("other"));

        handled.Record(1);

        using (Assert.EnterMultipleScope())
        {
            Assert.That(handled.Enabled);
            Assert.That(other.Enabled, Is.False);
            Assert.That(listener.Of(MessagePhase.Handler), Is.Null);
        }
    }

    private static KeyValuePair<string, object?> Tag(string operation) => new(PhaseInstrument.OperationTag, operation);

    private PhaseListener Listen(int expected) => new(
        [
            new(MessagePhase.Receive, meterName, "operation", "receive"),
            new(MessagePhase.Commit, meterName, "operation", "settle"),
            new(MessagePhase.Handler, meterName, "handler"),
        ],
        expected);
}
