using System.Collections.Concurrent;
using System.Diagnostics;
using Kit.Endpoints.Bare.Health;
using Kit.Endpoints.Cells;
using Kit.Modes;

namespace Kit.Tests.Bare;

/// <summary>One trace from the sender through two endpoints, in each mode.</summary>
[NonParallelizable]
public sealed class TraceThroughTwoEndpoints
{
    private static IEnumerable<Cell> Cells => Cell.All
        .Where(cell => cell is { Kind.Framework: "bare", IsPlain: true, Access.Name: "ado" })
        .Where(cell => cell.Kind.Transport != TransportName.SqlServer && cell.Support.IsSupported);

    [TestCase("postgresql")]
    [TestCase("rabbitmq")]
    public async Task A_message_without_a_trace_does_not_belong_to_that_of_the_hosts_start(string transport)
    {
        var ended = new ConcurrentQueue<Activity>();
        using var listener = Listen(ended);
        using var source = new ActivitySource("test");
        using var start = source.StartActivity("start")!;
        await using var bench = await TwoEndpointsBench.StartAsync(
            Cells.Single(cell => cell.Kind.Transport == transport && cell.Mode == TransactionMode.DtcOff), firstFails: false);

        await bench.SendAsync([]);
        await bench.HandledBySecondAsync();

        await Eventually.HoldsAsync(() => Task.FromResult(ended.Any(activity => activity.OperationName == "process first")), "the first is handled");
        Assert.That(ended.First(activity => activity.OperationName == "process first").TraceId, Is.Not.EqualTo(start.TraceId));
    }

    [ModeSource(nameof(Cells))]
    public async Task Each_activity_is_the_child_of_what_caused_it(Cell cell)
    {
        var ended = new ConcurrentQueue<Activity>();
        using var listener = Listen(ended);
        using var source = new ActivitySource("test");
        await using var bench = await TwoEndpointsBench.StartAsync(cell, firstFails: false);
        var produces = cell.Mode == TransactionMode.TransactionsOff ? "send second" : "create second";

        using (var request = source.StartActivity("request")!)
        {
            await bench.SendAsync(new() { ["traceparent"] = request.Id! });
            await bench.HandledBySecondAsync();
        }

        await Eventually.HoldsAsync(
            () => Task.FromResult(ended.Count(activity => activity.OperationName.StartsWith("settle", StringComparison.Ordinal)) == 2),
            "both messages are settled");
        var names = ended.ToDictionary(activity => activity.OperationName);
        Assert.Multiple(() =>
        {
            Assert.That(ended.Select(activity => activity.TraceId).Distinct().Count(), Is.EqualTo(1), string.Join(", ", names.Keys));
            Assert.That(names["process first"].ParentSpanId, Is.EqualTo(names["request"].SpanId));
            Assert.That(names[produces].ParentSpanId, Is.EqualTo(names["process first"].SpanId));
            Assert.That(names["settle first"].ParentSpanId, Is.EqualTo(names["process first"].SpanId));
            Assert.That(names["process second"].ParentSpanId, Is.EqualTo(names[produces].SpanId));
            Assert.That(names["process first"].GetTagItem("messaging.operation.type"), Is.EqualTo("process"));
            Assert.That(names["process first"].GetTagItem("messaging.destination.name"), Is.EqualTo("first"));
            Assert.That(names["process first"].GetTagItem("messaging.system"), Is.EqualTo(cell.Kind is BareOnRabbitMq ? "rabbitmq" : "postgresql"));
        });
    }

    private static ActivityListener Listen(ConcurrentQueue<Activity> ended)
    {
        var listener = new ActivityListener
        {
            ShouldListenTo = source => source.Name is EndpointMeter.Name or "test",
            Sample = (ref ActivityCreationOptions<ActivityContext> _) => ActivitySamplingResult.AllDataAndRecorded,
            ActivityStopped = ended.Enqueue,
        };
        ActivitySource.AddActivityListener(listener);
        return listener;
    }
}
