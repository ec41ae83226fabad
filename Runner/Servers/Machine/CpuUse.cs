using Kit.Runner.Results;

namespace Kit.Runner.Servers.Machine;

/// <summary>The use of the machine's processors between two samples.</summary>
/// <param name="Ours">CPU time of our processes and all their descendants.</param>
/// <param name="Others">
/// CPU time of all others: the machine's busy time, less ours, less the kernel's threads (they serve our reads and writes). It includes
/// time stolen by other virtual machines. It is never less than the sum of the other processes: a kernel that counts the machine's time
/// by ticks and a process's by the clock can report more for us than for the machine.
/// </param>
/// <param name="OthersShare">The others' share of all processors' capacity in that time, 0 to 1.</param>
/// <param name="Busiest">The visible other process that used most; <see langword="null"/> if none used any.</param>
public sealed record CpuUse(TimeSpan Elapsed, TimeSpan Ours, TimeSpan Others, double OthersShare, BusyProcess? Busiest)
{
    /// <summary>The processor time of a server that the kit has not started.</summary>
    public static Reading OfAServerOfOthers { get; } = Reading.Missing("a server is not the kit's own");

    /// <summary>The load from other processes next to such a server.</summary>
    public static Noise NoiseNextToAServerOfOthers { get; } = new(
        Reading.Missing("a server is not the kit's own: its processes cannot be told apart from others"), Noise.DefaultLimit, BusiestProcess: null);

    public bool IsNoisy => OthersShare > Noise.DefaultLimit;

    /// <summary>The load from other processes, as rounds store it.</summary>
    /// <param name="use"><see langword="null"/> if the system does not tell.</param>
    public static Noise NoiseOf(CpuUse? use) => use is null || !CpuSample.OfOthers.IsSupported
        ? new Noise(Reading.Missing(CpuSample.OfOthers.Because!), Noise.DefaultLimit, BusiestProcess: null)
        : new Noise(Reading.Of(use.OthersShare), Noise.DefaultLimit, use.Busiest?.Name);

    /// <param name="ours">Process ids that count as ours, with all their descendants.</param>
    /// <exception cref="ArgumentException">No time passed between the samples.</exception>
    public static CpuUse Between(CpuSample start, CpuSample end, IReadOnlySet<int> ours)
    {
        var elapsed = end.At - start.At;
        if (elapsed <= TimeSpan.Zero)
            throw new ArgumentException($"The samples are {elapsed} apart; the second must be the later one.", nameof(end));
        var (familyBefore, family) = (FamilyIn(start, ours, start), FamilyIn(end, ours, start));
        var (othersBefore, others) = (OthersIn(start, familyBefore), OthersIn(end, family));
        var oursTicks = TicksOf(start, end, familyBefore, family, ownOnly: []);
        var kernelTicks = end.Processes.Values.Where(process => process.IsKernelThread).Sum(process => process.Own - OwnBefore(start, process));
        // A parent of ours may have waited for children that are ours.
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

    /// <summary>The busy share of all processors' capacity between two samples, 0 to 1, whoever was busy.</summary>
    public static double BusyBetween(CpuSample start, CpuSample end) =>
        (end.Busy - start.Busy) / ((end.At - start.At).TotalSeconds * CpuSample.TicksPerSecond * end.Cores);

    /// <summary>
    /// CPU time of processes and their descendants between two samples. A child that ended in between is counted if its parent waited
    /// for it, as PostgreSQL's postmaster does for its backends.
    /// </summary>
    public static TimeSpan TimeOf(CpuSample start, CpuSample end, IReadOnlySet<int> roots) =>
        Time(TicksOf(start, end, FamilyIn(start, roots, start), FamilyIn(end, roots, start), ownOnly: []));

    private static double TicksOf(CpuSample start, CpuSample end, HashSet<int> before, HashSet<int> after, HashSet<int> ownOnly)
    {
        var used = after.Sum(id => Counted(end.Processes[id]) - (Before(start, end.Processes[id]) is { } earlier ? Counted(earlier) : 0));
        // A parent takes over its child's time when the child ends. The part from before the start does not count.
        var tookOver = before.Where(id => !Survives(id) && IsTakenOver(start.Processes[id].Parent)).Sum(id => start.Processes[id].Total);
        return Math.Max(0, used - tookOver);

        double Counted(ProcessStat process) => ownOnly.Contains(process.Id) ? process.Own : process.Total;

        bool Survives(int id) => end.Processes.TryGetValue(id, out var process) && process.IsSameProcessAs(start.Processes[id]);

        bool IsTakenOver(int parent) =>
            before.Contains(parent) && (Survives(parent) ? !ownOnly.Contains(parent) : IsTakenOver(start.Processes[parent].Parent));
    }

    private static HashSet<int> OthersIn(CpuSample sample, HashSet<int> family) =>
        [.. sample.Processes.Values.Where(process => !process.IsKernelThread && !family.Contains(process.Id)).Select(process => process.Id)];

    private static HashSet<int> FamilyIn(CpuSample sample, IReadOnlySet<int> roots, CpuSample start)
    {
        var family = new HashSet<int>(roots.Where(IsStillThat));
        // Once ids wrap around, a child can have a lower id than its parent, so one pass may not find all.
        for (var found = true; found;)
        {
            var children = sample.Processes.Values.Where(process => family.Contains(process.Parent) && !family.Contains(process.Id)).ToList();
            family.UnionWith(children.Select(child => child.Id));
            found = children.Count > 0;
        }

        return family;

        // If another process got a root's id in between, it is not ours.
        bool IsStillThat(int root) =>
            sample.Processes.TryGetValue(root, out var process)
            && (!start.Processes.TryGetValue(root, out var earlier) || process.IsSameProcessAs(earlier));
    }

    private static double OwnBefore(CpuSample start, ProcessStat process) => Before(start, process)?.Own ?? 0;

    private static ProcessStat? Before(CpuSample start, ProcessStat process) =>
        start.Processes.TryGetValue(process.Id, out var earlier) && earlier.IsSameProcessAs(process) ? earlier : null;

    private static TimeSpan Time(double ticks) => TimeSpan.FromSeconds(ticks / CpuSample.TicksPerSecond);
}

/// <summary>A process and its share of all processors' capacity, 0 to 1.</summary>
public sealed record BusyProcess(string Name, int Id, double Share);
