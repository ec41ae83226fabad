using System.Diagnostics;

namespace Kit.Endpoints.Bare.RabbitMq;

/// <summary>
/// Lets one worker at a time take a retry. If the process then dies, only that message is blamed, and not other retries that happened to run at
/// the same time.
/// </summary>
internal sealed class RetryTurn
{
    // Retries of this process are looked for at once, those that another process left behind only at this interval.
    public static readonly TimeSpan Interval = TimeSpan.FromSeconds(5);

    // Of one look.
    private const uint MostRefusals = 100;

    private long lastLook;
    private long refusedAt;
    private uint refused;
    private volatile bool wanted = true;
    private int taken;

    /// <summary>Notes that there is something to take.</summary>
    public void Ask() => wanted = true;

    /// <summary>
    /// Notes that the error queue has refused a retry again, which is back at the end. When all that are there were refused, or many, nobody looks for a
    /// while. Call it with the turn.
    /// </summary>
    /// <param name="others">How many others the retry queue had.</param>
    public void NoteRefused(uint others)
    {
        if (++refused <= Math.Min(others, MostRefusals))
            return;

        refused = 0;
        Volatile.Write(ref refusedAt, Stopwatch.GetTimestamp());
    }

    /// <summary>Takes the turn if there may be something to take and no other worker has the turn.</summary>
    public bool TryTake()
    {
        if (!wanted && Stopwatch.GetElapsedTime(Volatile.Read(ref lastLook)) < Interval)
            return false;
        if (Volatile.Read(ref refusedAt) is > 0 and var since && Stopwatch.GetElapsedTime(since) < Interval)
            return false;
        if (Interlocked.Exchange(ref taken, 1) == 1)
            return false;

        // Reset before the look, so that a request during it causes another look.
        wanted = false;
        Volatile.Write(ref lastLook, Stopwatch.GetTimestamp());
        return true;
    }

    public void GiveBack() => Volatile.Write(ref taken, 0);
}
