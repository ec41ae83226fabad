using System.Globalization;

namespace Kit.Runner.Measuring;

/// <summary>
/// The machine's clock, from which commits and first handler entries have their moments. A correction of it, or a virtual machine that goes on after a
/// pause, makes a step in them that looks like a time.
/// </summary>
internal sealed class WallClock : IDisposable
{
    private static readonly TimeSpan Interval = TimeSpan.FromSeconds(1);

    /// <summary>Two reads of both clocks on a machine that is not busy.</summary>
    private static readonly TimeSpan Tolerated = TimeSpan.FromMilliseconds(5);

    /// <summary>A time server corrects at most half of it without a step.</summary>
    private const double ToleratedShare = 0.001;

    /// <summary>A process that is interrupted between two reads reads once more.</summary>
    private const int Reads = 10;

    private readonly TimeProvider time;
    private readonly Lock looking = new();
    private readonly long begun;
    private readonly ITimer timer;
    private (DateTimeOffset Utc, long Timestamp) last;
    private TimeSpan largest;

    private WallClock(TimeProvider time)
    {
        this.time = time;
        last = Read();
        begun = last.Timestamp;
        timer = time.CreateTimer(_ => Look(), state: null, Interval, Interval);
    }

    /// <summary>Watches it from now on, every second: two steps that cancel each other are two steps.</summary>
    public static WallClock Watch(TimeProvider? time = null) => new(time ?? TimeProvider.System);

    /// <summary>The step that it made since then, in words; <see langword="null"/>: none.</summary>
    /// <param name="serverMoved">By how much the clock of the database server moved against this one since then.</param>
    public string? WhyUntrue(TimeSpan serverMoved = default)
    {
        Look();
        return largest != TimeSpan.Zero ? Text("the machine's clock", largest)
            : serverMoved.Duration() > 2 * ToleratedIn(time.GetElapsedTime(begun)) ? Text("the clock of the database server", serverMoved)
            : null;
    }

    public void Dispose() => timer.Dispose();

    private static string Text(string clock, TimeSpan step) =>
        string.Create(CultureInfo.InvariantCulture, $"{clock} made a step of {step.TotalSeconds:0.000} s while it was measured");

    private static TimeSpan ToleratedIn(TimeSpan passed) => Tolerated + (ToleratedShare * passed);

    private void Look()
    {
        lock (looking)
        {
            var now = Read();
            var passed = time.GetElapsedTime(last.Timestamp, now.Timestamp);
            var step = now.Utc - last.Utc - passed;
            if (step.Duration() > ToleratedIn(passed) && step.Duration() > largest.Duration())
                largest = step;
            last = now;
        }
    }

    /// <summary>Both clocks at the same moment: of several reads the one that took the shortest.</summary>
    private (DateTimeOffset Utc, long Timestamp) Read()
    {
        var reads = Enumerable.Range(0, Reads).Select(_ =>
        {
            var timestamp = time.GetTimestamp();
            var utc = time.GetUtcNow();
            return (Utc: utc, Timestamp: timestamp, Took: time.GetTimestamp() - timestamp);
        });
        var (utc, timestamp, _) = reads.MinBy(read => read.Took);
        return (utc, timestamp);
    }
}
