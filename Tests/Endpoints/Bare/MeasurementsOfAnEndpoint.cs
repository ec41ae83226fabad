using System.Collections.Concurrent;
using System.Diagnostics.Metrics;
using Kit.Endpoints.Bare;
using Kit.Endpoints.Bare.Health;
using Kit.Modes;

namespace Kit.Tests.Bare;

/// <summary>Durations and counts of messages, by OpenTelemetry's names, and gauges. All endpoints of a process have one meter.</summary>
[NonParallelizable]
public sealed class MeasurementsOfAnEndpoint
{
    [ModeSource(typeof(BareBench), nameof(BareBench.Modes))]
    public async Task Receive_process_and_settle_are_measured_in_seconds_once_for_each_attempt(TransactionMode mode)
    {
        await using var bench = await BareBench.CreateAsync();
        using var seen = new Measurements();
        var attempt = 0;

        await bench.HandleAsync(mode, async (context, cancellationToken) =>
        {
            await context.GetConnectionAsync(cancellationToken);
            await Task.Delay(100, cancellationToken);
            if (++attempt == 1)
                throw new InvalidOperationException("As the test wants.");
        });

        var attempts = Math.Min(2, mode.Attempts);
        Assert.Multiple(() =>
        {
            Assert.That(seen.Of("messaging.client.operation.duration", "receive"), Has.Count.EqualTo(attempts));
            Assert.That(seen.Of("messaging.process.duration", "process"), Has.Count.EqualTo(attempts).And.All.InRange(0.05, 10));
            Assert.That(seen.Of("messaging.client.operation.duration", "settle"), Has.Count.EqualTo(attempts).And.All.InRange(0.000_001, 10));
            Assert.That(seen.Of("messaging.client.consumed.messages", "receive").Sum(), Is.EqualTo(attempts));
            Assert.That(seen.Failures, Is.EqualTo(new[] { "System.InvalidOperationException" }));
        });
    }

    [Test]
    public async Task The_second_phase_is_measured_in_seconds()
    {
        await using var bench = await BareBench.CreateAsync();
        using var seen = new Measurements();

        await bench.HandleAsync(TransactionMode.FullDtcWaiting, BareBench.InsertRowAsync);

        Assert.That(seen.Of("kit.second_phase.duration", operation: null), Has.Count.EqualTo(1).And.All.InRange(0.000_001, 10));
    }

    [Test]
    public async Task What_waits_in_its_outbox_is_a_gauge()
    {
        await using var bench = await BareBench.CreateAsync();
        using var host = bench.Build(
            TransactionMode.Outbox,
            (context, cancellationToken) => context.SendAsync("nowhere", new BareBench.Todo(), cancellationToken: cancellationToken),
            configure: endpoint => endpoint.OutboxSchedule = new OutboxSchedule(TimeSpan.FromMilliseconds(100), Grace: TimeSpan.FromMilliseconds(100)));
        var seen = new ConcurrentDictionary<string, double>();
        using var listener = new MeterListener
        {
            InstrumentPublished = (instrument, listening) =>
            {
                if (instrument.Meter.Name == EndpointMeter.Name)
                    listening.EnableMeasurementEvents(instrument);
            },
        };
        listener.SetMeasurementEventCallback<double>((instrument, value, tags, _) =>
        {
            if (tags.ToArray().Contains(new("endpoint", "work")))
                seen[instrument.Name] = Math.Max(value, seen.GetValueOrDefault(instrument.Name));
        });
        listener.Start();
        await host.StartAsync();
        await bench.QueueOf(TransactionMode.Outbox).EnqueueAsync(
            [OutgoingMessage.Create("work", new BareBench.Todo())], CancellationToken.None);

        await Eventually.HoldsAsync(
            () =>
            {
                listener.RecordObservableInstruments();
                return seen.GetValueOrDefault("kit.outbox.waiting") == 1 && seen.ContainsKey("kit.receive.age")
                    && seen.GetValueOrDefault("kit.outbox.age") > 0;
            },
            "one message waits");
        await host.StopAsync();
    }

    private sealed class Measurements : IDisposable
    {
        private readonly ConcurrentQueue<(string Name, string? Operation, double Value)> seen = new();
        private readonly ConcurrentQueue<string> failures = new();
        private readonly MeterListener listener;

        public Measurements()
        {
            listener = new MeterListener
            {
                InstrumentPublished = (instrument, listening) =>
                {
                    if (instrument.Meter.Name == EndpointMeter.Name)
                        listening.EnableMeasurementEvents(instrument);
                },
            };
            listener.SetMeasurementEventCallback<double>((instrument, value, tags, _) => Add(instrument, value, tags));
            listener.SetMeasurementEventCallback<long>((instrument, value, tags, _) => Add(instrument, value, tags));
            listener.Start();
        }

        public IReadOnlyCollection<string> Failures => failures;

        public IReadOnlyList<double> Of(string name, string? operation) =>
            [.. seen.Where(one => one.Name == name && one.Operation == operation).Select(one => one.Value)];

        public void Dispose() => listener.Dispose();

        private void Add(Instrument instrument, double value, ReadOnlySpan<KeyValuePair<string, object?>> tags)
        {
            var all = tags.ToArray().ToDictionary(tag => tag.Key, tag => tag.Value as string);
            if (instrument.Unit == "s" || instrument.Unit == "{message}")
                seen.Enqueue((instrument.Name, all.GetValueOrDefault("messaging.operation.name"), value));
            if (all.GetValueOrDefault("error.type") is { } failure)
                failures.Enqueue(failure);
        }
    }
}
