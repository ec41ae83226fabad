using System.Globalization;
using Kit.Runner.Results.Faults;
using Kit.Runner.Results.Points;

namespace Kit.Runner.Results.Comparing;

/// <summary>A difference between two sides other than the cells' code.</summary>
public sealed record Difference(string What, string Before, string After)
{
    private const string Commit = "commit";
    private const string Build = "build";

    /// <summary>True if it only identifies the build, which a comparison of builds shows anyway.</summary>
    public bool IsOfTheBuild => What is Commit or Build;

    /// <summary>
    /// The differences between two runs, commit first. Order seed and time do not count: each run has its own.
    /// </summary>
    public static IReadOnlyList<Difference> Between(RecordedRun before, RecordedRun after) => Between(FactsOf(before), FactsOf(after));

    /// <summary>The differences between two folders of experiments, commit first.</summary>
    public static IReadOnlyList<Difference> Between(GuaranteeReport before, GuaranteeReport after) => Between(FactsOf(before), FactsOf(after));

    private static IReadOnlyList<Difference> Between(Dictionary<string, string> before, Dictionary<string, string> after) =>
    [
        .. from name in before.Keys.Concat(after.Keys).Distinct()
           let then = before.GetValueOrDefault(name, Figures.None)
           let now = after.GetValueOrDefault(name, Figures.None)
           where !string.Equals(then, now, StringComparison.Ordinal)
           select new Difference(name, then, now),
    ];

    private static Dictionary<string, string> FactsOf(RecordedRun run)
    {
        var document = run.Document;
        var facts = new Dictionary<string, string> { [Commit] = CommitOf(document.Commit) };
        if (document.Build is { } build)
            facts[Build] = $"{build.Version}, fingerprint {build.Fingerprint}";
        Add(facts, document.Host);
        Add(facts, "PostgreSQL", document.Server);
        Add(facts, "RabbitMQ", document.Broker);
        Add(facts, "SQL Server", document.SqlServer ?? new Dictionary<string, string>());
        foreach (var (name, server) in document.Servers ?? new Dictionary<string, IReadOnlyDictionary<string, string>>())
            Add(facts, name, server);
        if (document.Disk is { } disk)
            facts["disk"] = disk.Where;
        Add(facts, "package", document.Packages);
        foreach (var axis in CellName.AxesOf(document.Cells))
        {
            var values = document.Cells.Select(cell => cell.On(axis, document.Implied) ?? Figures.None);
            facts[axis] = string.Join(", ", values.Distinct().Order(StringComparer.Ordinal));
        }

        facts["messages"] = Figures.Count(document.Settings.Messages);
        if (document.AtLeast is { } length)
            facts["rounds at least"] = $"{Figures.Measured(length.Seconds)} s";
        facts["rounds"] = Figures.Count(document.Settings.Rounds);
        facts["concurrency"] = Figures.Count(document.Settings.Concurrency);
        facts["rows seeded"] = Figures.Count(document.Settings.SeedRows);
        facts["warm-up messages"] = Figures.Count(document.Settings.WarmUp);
        facts["isolation"] = document.Isolation;
        Add(facts, "immediate retries in", document.ImmediateRetries);
        Add(facts, "pool of", document.PoolSizes);
        facts["clock"] = string.Join(", ", run.Rounds.Select(round => round.Clock).Distinct().Order());
        facts["ending"] = document.Ending.ToString();
        return facts;
    }

    private static Dictionary<string, string> FactsOf(GuaranteeReport report)
    {
        var document = report.Document;
        var facts = new Dictionary<string, string> { [Commit] = CommitOf(document.Commit) };
        Add(facts, document.Host);
        Add(facts, "server", document.Servers);
        Add(facts, "package", document.Packages);
        facts["handler"] = document.Handler;
        if (document.AllWays.Count > 0)
            facts["ways at a point"] = PointWays.ListOf(document.AllWays);
        // Their random moments do not count. One with a shortfall does not tell what was planned.
        var storms = report.Ordered.Select(result => result.Storm).OfType<StormFacts>().Where(storm => storm.Shortfall is null).ToList();
        if (storms.Count > 0)
            facts["storms"] = string.Join("; ", storms.Select(storm => storm.Happened).Distinct().Order(StringComparer.Ordinal));
        return facts;
    }

    private static void Add(Dictionary<string, string> facts, HostFacts host)
    {
        facts["machine"] = RunFacts.MachineOf(host);
        facts["system"] = host.OperatingSystem;
        facts["runtime"] = host.Runtime;
    }

    private static void Add<T>(Dictionary<string, string> facts, string kind, IReadOnlyDictionary<string, T> named)
        where T : IConvertible
    {
        foreach (var (name, value) in named)
            facts[$"{kind} {name}"] = value.ToString(CultureInfo.InvariantCulture);
    }

    private static string CommitOf(GitCommit? commit) => commit is null ? "unknown" : $"{commit.Id}{commit.Changes}";
}
