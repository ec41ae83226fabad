namespace Kit.Runner.Servers.Machine;

/// <summary>One process as in <c>/proc/[pid]/stat</c> (proc_pid_stat(5)). Times are in clock ticks.</summary>
/// <param name="Started">Ticks after boot. Ids are reused; id and start together identify a process.</param>
/// <param name="Own">CPU time of the process itself, in user and kernel mode.</param>
/// <param name="Reaped">CPU time of its ended children that it waited for, and of their children.</param>
public sealed record ProcessStat(int Id, string Name, char State, int Parent, bool IsKernelThread, long Own, long Reaped, long Started)
{
    // PF_KTHREAD in the kernel's include/linux/sched.h. Inside a container process 2 need not be the kernel's; this flag is reliable.
    private const uint KernelThreadFlag = 0x0020_0000;

    /// <summary>True if it has ended and its parent has not waited for it yet.</summary>
    public bool IsZombie => State is 'Z' or 'X';

    public long Total => Own + Reaped;

    public bool IsSameProcessAs(ProcessStat other) => Id == other.Id && Started == other.Started;

    /// <exception cref="FormatException">The text is not from a <c>stat</c> file.</exception>
    public static ProcessStat Parse(string text)
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
            Own: long.Parse(Field(14)) + long.Parse(Field(15)),
            Reaped: long.Parse(Field(16)) + long.Parse(Field(17)),
            Started: long.Parse(Field(22)));
    }

    /// <summary>The process with an id, or <see langword="null"/> if it does not exist (any more) or we may not see it.</summary>
    public static ProcessStat? Read(int id)
    {
        try
        {
            return Parse(File.ReadAllText($"/proc/{id}/stat"));
        }
        catch (Exception gone) when (gone is IOException or UnauthorizedAccessException)
        {
            return null;
        }
    }
}
