using System.Globalization;

namespace Kit.Runner.Stage;

/// <summary>
/// The machine's clock, from which commits and first handler entries have their moments. A correction of it, or a virtual machine that goes on after a
/// pause, makes a step in them that looks like a time.
/// </summary>
internal sealed class WallClock
{
    /// <summary>Two reads of both clocks on a machine that is not busy.</summary>
    private static readonly TimeSpan Tolerated = TimeSpan.FromMilliseconds(5);

    /// <summary>A time server corrects at most half of it without a step.</summary>
    private const double ToleratedShare = 0.001;

    /// <summary>A process that is interrupted between two reads reads once more.</summary>
    private const int Reads = 10;

    private readonly TimeProvider time;
    private readonly (DateTimeOffset Utc, long Timestamp) begun;

    private WallClock(TimeProvider time) => (this.time, begun) = (time, Read(time));

    /// <summary>Watches it from now on.</summary>
    public static WallClock Watch(TimeProvider? time = null) => new(time ?? TimeProvider.System);

    /// <summary>That it made a step since then, as a text; <see langword="null"/>: it made none.</summary>
    public string? WhyUntrue()
    {
        var now = Read(time);
        var passed = time.GetElapsedTime(begun.Timestamp, now.Timestamp);
        var step = now.Utc - begun.Utc - passed;
        return step.Duration() <= Tolerated + (ToleratedShare * passed)
            ? null
            : string.Create(CultureInfo.InvariantCulture, $"the machine's clock made a step of {step.TotalSeconds:0.000} s while it was measured");
    }

    /// <summary>Both clocks at the same moment: of several reads the one that took the shortest.</summary>
    private static (DateTimeOffset Utc, long Timestamp) Read(TimeProvider time)
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
