namespace Kit.Runner.Servers.Machine;

/// <summary>One process as in <c>/proc/[pid]/stat</c> (proc_pid_stat(5)). Times are in clock ticks.</summary>
/// <param name="Started">Ticks after boot. Ids are reused; id and start together identify a process.</param>
/// <param name="Own">
/// CPU time of the process itself, in user and kernel mode. Of a process with one thread it is exact: <c>stat</c> has whole ticks, and hundreds of
/// sessions that work for less than a tick each would have used nothing.
/// </param>
/// <param name="Reaped">CPU time of its ended children that it waited for, and of their children.</param>
public sealed record ProcessStat(int Id, string Name, char State, int Parent, bool IsKernelThread, double Own, long Reaped, long Started)
{
    // PF_KTHREAD in the kernel's include/linux/sched.h. Inside a container process 2 need not be the kernel's; this flag is reliable.
    private const uint KernelThreadFlag = 0x0020_0000;
    private const double NanosecondsPerTick = 1e9 / CpuSample.TicksPerSecond;

    /// <summary>True if it has ended and its parent has not waited for it yet.</summary>
    public bool IsZombie => State is 'Z' or 'X';

    public double Total => Own + Reaped;

    public bool IsSameProcessAs(ProcessStat other) => Id == other.Id && Started == other.Started;

    /// <param name="schedule">
    /// The text of <c>/proc/[pid]/schedstat</c>, which begins with the nanoseconds that the process's first thread has run; <see langword="null"/>: there
    /// is none.
    /// </param>
    /// <exception cref="FormatException">The text is not from a <c>stat</c> file.</exception>
    public static ProcessStat Parse(string text, string? schedule = null)
    {
        // The name is in parentheses and can contain spaces and parentheses; no later field can.
        var open = text.IndexOf('(', StringComparison.Ordinal);
        var close = text.LastIndexOf(')');
        if (open < 1 || close < open)
            throw new FormatException($"Expected the text of a process's stat file, found '{text}'.");
        var fields = text[(close + 1)..].Split((char[]?)null, StringSplitOptions.RemoveEmptyEntries);
        if (fields.Length < 20)
            throw new FormatException($"Expected at least 22 fields in a process's stat file, found '{text}'.");
        // The manual counts fields from 1; the first after the name is number 3.
        string Field(int number) => fields[number - 3];
        return new ProcessStat(
            Id: int.Parse(text.AsSpan(0, open)),
            Name: text[(open + 1)..close],
            State: Field(3)[0],
            Parent: int.Parse(Field(4)),
            IsKernelThread: (uint.Parse(Field(9)) & KernelThreadFlag) != 0,
            // A thread that has ended is in the first alone.
            Own: Math.Max(long.Parse(Field(14)) + long.Parse(Field(15)), Field(20) == "1" ? TicksIn(schedule) : 0),
            Reaped: long.Parse(Field(16)) + long.Parse(Field(17)),
            Started: long.Parse(Field(22)));
    }

    /// <summary>The process with an id, or <see langword="null"/> if it does not exist (any more) or we may not see it.</summary>
    public static ProcessStat? Read(int id)
    {
        try
        {
            return Parse(File.ReadAllText($"/proc/{id}/stat"), ScheduleOf(id));
        }
        catch (Exception gone) when (gone is IOException or UnauthorizedAccessException)
        {
            return null;
        }
    }

    private static double TicksIn(string? schedule) => schedule is null ? 0 : long.Parse(schedule.Split(' ')[0]) / NanosecondsPerTick;

    private static string? ScheduleOf(int id)
    {
        try
        {
            return File.ReadAllText($"/proc/{id}/schedstat");
        }
        catch (Exception missing) when (missing is IOException or UnauthorizedAccessException)
        {
            // A kernel without it, or the process has ended meanwhile.
            return null;
        }
    }
}
