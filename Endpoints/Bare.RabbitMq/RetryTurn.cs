using System.Diagnostics;

namespace Kit.Endpoints.Bare.RabbitMq;

/// <summary>
/// Lets one worker at a time take a message that is tried again. If the process then ends, that one message alone is accused, and not what
/// the other workers happened to try again at the same time.
/// </summary>
internal sealed class RetryTurn
{
    // Retries of this process are looked for at once, those that another one left behind now and then.
    public static readonly TimeSpan Interval = TimeSpan.FromSeconds(5);

    private long lastLook;
    private volatile bool wanted = true;
    private int taken;

    /// <summary>Says that there is something to take.</summary>
    public void Ask() => wanted = true;

    /// <summary>Takes the turn, where there may be something to take and nobody else has it.</summary>
    public bool TryTake()
    {
        if (!wanted && Stopwatch.GetElapsedTime(Volatile.Read(ref lastLook)) < Interval)
            return false;
        if (Interlocked.Exchange(ref taken, 1) == 1)
            return false;

        // Before the look: what is asked for during it is looked for again.
        wanted = false;
        Volatile.Write(ref lastLook, Stopwatch.GetTimestamp());
        return true;
    }

    public void GiveBack() => Volatile.Write(ref taken, 0);
}
