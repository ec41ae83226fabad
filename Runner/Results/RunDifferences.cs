namespace Kit.Runner.Results;

/// <summary>Differences that keep rounds from belonging to one run: another build, machine, server or disk.</summary>
public static class RunDifferences
{
    /// <summary>The differences in words. Facts that one of the two does not know yet are not compared.</summary>
    /// <param name="now">Facts of the process that is to resume it.</param>
    public static IEnumerable<string> Between(RunDocument then, RunDocument now) => Between(FactsOf(then), FactsOf(now));

    /// <inheritdoc cref="Between(RunDocument, RunDocument)"/>
    internal static IEnumerable<string> Between(
        (HostFacts Host, IReadOnlyDictionary<string, string> Servers, DiskFacts? Disk) then,
        (HostFacts Host, IReadOnlyDictionary<string, string> Servers, DiskFacts? Disk) now) =>
        Between(
            [OfMachine(then.Host), ("server", then.Servers), OfDisk(then.Disk)],
            [OfMachine(now.Host), ("server", now.Servers), OfDisk(now.Disk)]);

    /// <inheritdoc cref="Between(RunDocument, RunDocument)"/>
    internal static IEnumerable<string> Between(IReadOnlyDictionary<string, string> thenServers, IReadOnlyDictionary<string, string> nowServers) =>
        Between([("server", thenServers)], [("server", nowServers)]);

    private static IEnumerable<string> Between(
        IEnumerable<(string Name, IReadOnlyDictionary<string, string> Facts)> then, IEnumerable<(string Name, IReadOnlyDictionary<string, string> Facts)> now)
    {
        var current = now.ToDictionary(group => group.Name, group => group.Facts, StringComparer.Ordinal);
        foreach (var (name, earlier) in then)
        {
            if (earlier.Count == 0 || current.GetValueOrDefault(name) is not { Count: > 0 } later)
                continue;

            foreach (var fact in earlier.Keys.Union(later.Keys, StringComparer.Ordinal).Order(StringComparer.Ordinal))
            {
                var (before, after) = (earlier.GetValueOrDefault(fact, "absent"), later.GetValueOrDefault(fact, "absent"));
                if (!string.Equals(before, after, StringComparison.Ordinal))
                    yield return $"{name}, {fact}: {before} then, {after} now";
            }
        }
    }

    private static IEnumerable<(string Name, IReadOnlyDictionary<string, string> Facts)> FactsOf(RunDocument run)
    {
        // The commit only explains the fingerprint: two clones of one commit need not be built alike.
        yield return ("build", Facts(("fingerprint", run.Fingerprint is null ? null : $"{run.Fingerprint} (commit {run.Commit?.Id ?? "unknown"})")));
        yield return OfMachine(run.Host);
        yield return ("packages", run.Packages);
        yield return ("server", run.Server);
        yield return ("broker", run.Broker);
        yield return ("SQL Server", run.SqlServer ?? Facts());
        foreach (var (name, facts) in run.Servers ?? new Dictionary<string, IReadOnlyDictionary<string, string>>())
            yield return (name, facts);
        yield return OfDisk(run.Disk);
    }

    private static (string Name, IReadOnlyDictionary<string, string> Facts) OfMachine(HostFacts host) => ("machine", Facts(
        ("cores", Figures.Plain(host.Cores)), ("processor", host.CpuModel), ("memory", $"{host.MemoryBytes >> 30} GiB"),
        ("system", host.OperatingSystem), (".NET", host.Runtime)));

    private static (string Name, IReadOnlyDictionary<string, string> Facts) OfDisk(DiskFacts? disk) =>
        ("disk", Facts(("folder", disk?.Folder), ("file system", disk?.FileSystem)));

    private static Dictionary<string, string> Facts(params IEnumerable<(string Name, string? Fact)> facts) => facts
        .Where(fact => fact.Fact is not null)
        .ToDictionary(fact => fact.Name, fact => fact.Fact!, StringComparer.Ordinal);
}
