using System.Collections.Concurrent;
using System.Diagnostics.Metrics;
using Kit.Endpoints.Cells;
using Kit.Runner.Results;

namespace Kit.Runner.Stage;

/// <summary>Listens to the metrics of an endpoint's packages, until it is disposed of.</summary>
internal sealed class PhaseListener : IDisposable
{
    private readonly MeterListener listener;
    private readonly Dictionary<MessagePhase, DurationLog> logs;

    /// <param name="expected">Number of messages.</param>
    public PhaseListener(IReadOnlyList<PhaseInstrument> instruments, int expected)
    {
        logs = instruments.Select(instrument => instrument.Phase).Distinct().ToDictionary(phase => phase, _ => new DurationLog(expected));
        listener = new MeterListener
        {
            InstrumentPublished = (published, listening) =>
            {
                var ofMeter = instruments.Where(instrument => instrument.Meter == published.Meter.Name).ToList();
                var matching = ofMeter.Where(instrument => instrument.Name == published.Name).ToList();
                if (matching.Count > 0)
                    listening.EnableMeasurementEvents(published, SourceOf(published, matching));
                else if (ofMeter.Exists(instrument => instrument.OnlyWith == published.Name))
                    listening.EnableMeasurementEvents(published);
            },
        };
        listener.SetMeasurementEventCallback<double>(static (_, value, tags, source) => (source as Source)?.Add(value, tags));
        listener.Start();
    }

    /// <summary>Durations of a phase; only after the endpoint has stopped.</summary>
    /// <returns><see langword="null"/> if none was measured.</returns>
    public Durations? Of(MessagePhase phase) => logs.GetValueOrDefault(phase)?.Summarize();

    public void Dispose() => listener.Dispose();

    private Source SourceOf(Instrument published, IReadOnlyList<PhaseInstrument> matching) =>
        new(UnitOf(published), [.. matching.Select(instrument => (instrument.Operation, logs[instrument.Phase]))]);

    /// <summary>Milliseconds per unit of an instrument.</summary>
    private static double UnitOf(Instrument instrument) => instrument.Unit switch
    {
        "s" => 1_000,
        "ms" => 1,
        var unit => throw new NotSupportedException($"The instrument {instrument.Name} has the unit '{unit}'; s and ms are known."),
    };

    private sealed class Source(double milliseconds, (string? Operation, DurationLog Log)[] logs)
    {
        public void Add(double value, ReadOnlySpan<KeyValuePair<string, object?>> tags)
        {
            foreach (var (operation, log) in logs)
            {
                if (operation is null || IsTagged(tags, operation))
                    log.Add(value * milliseconds);
            }
        }

        private static bool IsTagged(ReadOnlySpan<KeyValuePair<string, object?>> tags, string operation)
        {
            foreach (var tag in tags)
            {
                if (tag.Key == PhaseInstrument.OperationTag)
                    return operation.Equals(tag.Value as string, StringComparison.Ordinal);
            }

            return false;
        }
    }

    /// <summary>Durations that workers record at the same time. The expected ones have room before the first, so that recording allocates nothing.</summary>
    /// <param name="expected">Expected number; more are kept too.</param>
    private sealed class DurationLog(int expected)
    {
        private readonly double[] values = new double[expected];
        private readonly ConcurrentQueue<double> more = new();
        private int count;

        public void Add(double milliseconds)
        {
            var index = Interlocked.Increment(ref count) - 1;
            if (index < values.Length)
                values[index] = milliseconds;
            else
                more.Enqueue(milliseconds);
        }

        /// <summary>A summary of the recorded durations; only after the last was added.</summary>
        /// <returns><see langword="null"/> if nothing was.</returns>
        public Durations? Summarize() => Durations.Of([.. values.AsSpan(0, Math.Min(count, values.Length)), .. more]);
    }
}
