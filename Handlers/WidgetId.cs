using System.Security.Cryptography;

namespace Kit.Handlers;

/// <summary>
/// Ordered 64-bit ids: 42 bits of milliseconds since 2020-01-01 UTC, 9 bits of the process, 12 bits of sequence (the layout that Twitter
/// published as Snowflake). Ascending within a process. Two processes collide only if they have the same 9 bits and count in the same millisecond; the
/// table's primary key then refuses the row.
/// </summary>
public static class WidgetId
{
    private const int ProcessBits = 9;
    private const int SequenceBits = 12;

    private static readonly DateTime Epoch = new(2020, 1, 1, 0, 0, 0, DateTimeKind.Utc);
    // Milliseconds and sequence in one number, so that one interlocked operation advances both.
    private static long last;

    /// <summary>The process's part of each id, 0 to 511. It is drawn; processes that share a table are numbered instead.</summary>
    /// <exception cref="ArgumentOutOfRangeException">It has more than 9 bits.</exception>
    public static int Process
    {
        get;
        set
        {
            ArgumentOutOfRangeException.ThrowIfNegative(value);
            ArgumentOutOfRangeException.ThrowIfGreaterThanOrEqual(value, 1 << ProcessBits);
            field = value;
        }
    } = RandomNumberGenerator.GetInt32(1 << ProcessBits);

    public static long Next()
    {
        while (true)
        {
            var previous = Volatile.Read(ref last);
            var now = MillisecondsOf(DateTime.UtcNow) << SequenceBits;
            var next = Math.Max(now, previous + 1);
            if (Interlocked.CompareExchange(ref last, next, previous) == previous)
                return Compose(next >> SequenceBits, Process, next & ((1 << SequenceBits) - 1));
        }
    }

    /// <summary>The lowest id that <see cref="Next"/> can return at <paramref name="time"/>; lower ids belong to earlier rows.</summary>
    public static long LowestAt(DateTime time) => Compose(MillisecondsOf(time), 0, 0);

    private static long MillisecondsOf(DateTime time) => (time - Epoch).Ticks / TimeSpan.TicksPerMillisecond;

    private static long Compose(long milliseconds, long process, long sequence) =>
        (milliseconds << (ProcessBits + SequenceBits)) | (process << SequenceBits) | sequence;
}
