using Kit.Runner.Results;

namespace Kit.Runner.Servers.Machine;

/// <summary>Who used the machine's processors between two samples.</summary>
/// <param name="Elapsed">Between the samples.</param>
/// <param name="Ours">CPU time of the processes named as ours and of all that descend from them.</param>
/// <param name="Others">
/// CPU time of everybody else: what the machine was busy, less ours, less the kernel's own threads (they serve our reads and writes).
/// Time that other virtual machines stole is in it. It is never less than what the other processes say of themselves: a kernel that
/// counts the machine's time by ticks and a process's by the clock can find us busier than the machine.
/// </param>
/// <param name="OthersShare">Others' part of what all processors could do in that time, 0 to 1.</param>
/// <param name="Busiest">The other process that used most, of those that can be seen; <see langword="null"/> when none used any.</param>
public sealed record CpuUse(TimeSpan Elapsed, TimeSpan Ours, TimeSpan Others, double OthersShare, BusyProcess? Busiest)
{
    public bool IsNoisy => OthersShare > Noise.DefaultLimit;

    /// <param name="ours">Process ids whose whole descendants count as ours.</param>
    /// <exception cref="ArgumentException">No time passed between the samples.</exception>
    public static CpuUse Between(CpuSample start, CpuSample end, IReadOnlySet<int> ours)
    {
        var elapsed = end.At - start.At;
        if (elapsed <= TimeSpan.Zero)
            throw new ArgumentException($"The samples lie {elapsed} apart; the second must be the later one.", nameof(end));
        var (familyBefore, family) = (FamilyIn(start, ours, start), FamilyIn(end, ours, start));
        var (othersBefore, others) = (OthersIn(start, familyBefore), OthersIn(end, family));
        var oursTicks = TicksOf(start, end, familyBefore, family, ownOnly: []);
        var kernelTicks = end.Processes.Values.Where(process => process.IsKernelThread).Sum(process => process.Own - OwnBefore(start, process));
        // What a parent of ours waited for can be ours.
        var parents = familyBefore.Select(id => start.Processes[id].Parent).Concat(family.Select(id => end.Processes[id].Parent)).ToHashSet();
        var visibleTicks = TicksOf(start, end, othersBefore, others, parents);
        var othersTicks = Math.Max(end.Busy - start.Busy - oursTicks - kernelTicks, visibleTicks);
        var capacity = elapsed.TotalSeconds * CpuSample.TicksPerSecond * end.Cores;
        var busiest = others
            .Select(id => new BusyProcess(end.Processes[id].Name, id, (end.Processes[id].Own - OwnBefore(start, end.Processes[id])) / capacity))
            .Where(process => process.Share > 0)
            .MaxBy(process => process.Share);
        return new CpuUse(elapsed, Time(oursTicks), Time(othersTicks), othersTicks / capacity, busiest);
    }

    /// <summary>
    /// CPU time of processes and their descendants between two samples. A child that ended in between is counted where its parent waited
    /// for it, as PostgreSQL's postmaster waits for its backends.
    /// </summary>
    public static TimeSpan TimeOf(CpuSample start, CpuSample end, IReadOnlySet<int> roots) =>
        Time(TicksOf(start, end, FamilyIn(start, roots, start), FamilyIn(end, roots, start), ownOnly: []));

    private static long TicksOf(CpuSample start, CpuSample end, HashSet<int> before, HashSet<int> after, HashSet<int> ownOnly)
    {
        var used = after.Sum(id => Counted(end.Processes[id]) - (Before(start, end.Processes[id]) is { } earlier ? Counted(earlier) : 0));
        // What a child had used before the start and its parent took over at the child's end was not used in between.
        var tookOver = before.Where(id => !Survives(id) && IsTakenOver(start.Processes[id].Parent)).Sum(id => start.Processes[id].Total);
        return Math.Max(0, used - tookOver);

        long Counted(ProcessStat process) => ownOnly.Contains(process.Id) ? process.Own : process.Total;

        bool Survives(int id) => end.Processes.TryGetValue(id, out var process) && process.IsSameProcessAs(start.Processes[id]);

        bool IsTakenOver(int parent) =>
            before.Contains(parent) && (Survives(parent) ? !ownOnly.Contains(parent) : IsTakenOver(start.Processes[parent].Parent));
    }

    private static HashSet<int> OthersIn(CpuSample sample, HashSet<int> family) =>
        [.. sample.Processes.Values.Where(process => !process.IsKernelThread && !family.Contains(process.Id)).Select(process => process.Id)];

    private static HashSet<int> FamilyIn(CpuSample sample, IReadOnlySet<int> roots, CpuSample start)
    {
        var family = new HashSet<int>(roots.Where(IsStillThat));
        // A child can have a lower id than its parent once ids start again, so one pass may not find all.
        for (var found = true; found;)
        {
            var children = sample.Processes.Values.Where(process => family.Contains(process.Parent) && !family.Contains(process.Id)).ToList();
            family.UnionWith(children.Select(child => child.Id));
            found = children.Count > 0;
        }

        return family;

        // A root's id that went to another process in between is not ours.
        bool IsStillThat(int root) =>
            sample.Processes.TryGetValue(root, out var process)
            && (!start.Processes.TryGetValue(root, out var earlier) || process.IsSameProcessAs(earlier));
    }

    private static long OwnBefore(CpuSample start, ProcessStat process) => Before(start, process)?.Own ?? 0;

    private static ProcessStat? Before(CpuSample start, ProcessStat process) =>
        start.Processes.TryGetValue(process.Id, out var earlier) && earlier.IsSameProcessAs(process) ? earlier : null;

    private static TimeSpan Time(long ticks) => TimeSpan.FromSeconds((double)ticks / CpuSample.TicksPerSecond);
}
