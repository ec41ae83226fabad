using Kit.Endpoints.Cells;
using Kit.Runner.Faults.Testbeds;
using Kit.Runner.Results;
using Kit.Runner.Results.Faults;
using Kit.Runner.Results.Points;
using Kit.Runner.Servers;
using Kit.Runner.Stage;
using Kit.Runner.Stage.Transports;

namespace Kit.Runner.Faults.Experiments;

/// <summary>The document and the results of a <c>faults</c> command. Each change is saved at once.</summary>
internal sealed class FaultRecord
{
    private readonly FaultPlan plan;
    private readonly Action<FaultResult, int, int> tell;
    private readonly FaultFolder folder;
    private readonly List<FaultResult> results;
    private readonly Lock saving = new();
    private int planned;
    private int finished;

    private FaultRecord(FaultPlan plan, Action<FaultResult, int, int> tell, GitCommit? commit)
    {
        (this.plan, this.tell, folder) = (plan, tell, new FaultFolder(plan.Folder));
        Document = Describe(commit);
        results = [.. folder.LoadResults()];
    }

    public FaultDocument Document { get; private set; }

    /// <summary>Every result of the folder, of this command or an earlier one.</summary>
    public IReadOnlyList<FaultResult> Results => results;

    /// <param name="plan">What the command does.</param>
    /// <param name="tell">Receives each result, how many there are and how many are planned.</param>
    /// <param name="cancellationToken">Ends the attempt.</param>
    /// <exception cref="KitException">The folder has experiments of another build or with another handler, or is damaged.</exception>
    public static async Task<FaultRecord> OpenAsync(
        FaultPlan plan, Action<FaultResult, int, int> tell, CancellationToken cancellationToken) =>
        new(plan, tell, await WorkTree.CommitAsync(cancellationToken));

    /// <summary>Whether an experiment has a result that a resumed command does not repeat.</summary>
    public bool Has(string name) =>
        results.Exists(result => result.Name == name && (result.IsGood || result.Verdict is FaultVerdict.Broken));

    /// <summary>Adds the experiments that follow to the outstanding ones.</summary>
    public void Begin(IReadOnlyCollection<string> names)
    {
        (planned, finished) = (names.Count, 0);
        Save(document => document with { Outstanding = [.. document.Outstanding.Union(names)] });
    }

    /// <summary>Removes those that have a result.</summary>
    public void End()
    {
        lock (saving)
            Save(document => document with { Outstanding = [.. document.Outstanding.Except(results.Select(result => result.Name))] });
    }

    public void Save(Func<FaultDocument, FaultDocument> change) => folder.Save(Document = change(Document));

    /// <summary>Replaces an earlier result of the same experiment.</summary>
    public void Save(FaultResult result)
    {
        lock (saving)
        {
            folder.Save(result);
            results.RemoveAll(other => other.Name == result.Name);
            results.Add(result);
            tell(result, ++finished, planned);
        }
    }

    public void WriteReports() => folder.WriteReports(new GuaranteeReport(Document, results));

    /// <summary>The servers' versions, added to those before.</summary>
    public static Dictionary<string, string> VersionsOf(ServersInUse servers, FaultDocument document)
    {
        var versions = new Dictionary<string, string>(document.Servers);
        foreach (var (title, version) in servers.Versions)
            versions[title] = version;
        return versions;
    }

    private FaultDocument Describe(GitCommit? commit)
    {
        var fingerprint = Build.OfThis().Fingerprint;
        if (!folder.Exists)
        {
            return new FaultDocument
            {
                CommandLine = plan.CommandLine,
                StartedUtc = DateTimeOffset.UtcNow,
                Commit = commit,
                Fingerprint = fingerprint,
                // A cell that names no scenario has the experiments' own handler, and not that of a scenario.
                Implied = Provenance.ImpliedAt(Testbed.Concurrency).Where(axis => axis.Key != Axis.Scenario.Name).ToDictionary(),
                Host = Provenance.OfHost(),
                Packages = Provenance.Packages(),
                LeftOut = LeftOut([]),
                Speeds = plan.Speeds,
                Subscribers = Subscribers,
            };
        }

        var begun = folder.LoadDocument();
        if (begun.Subscribers != Subscribers)
        {
            throw new KitException(
                $"{plan.Folder} holds experiments whose handler {begun.Handler}, " +
                $"and that of this command {(begun with { Subscribers = Subscribers }).Handler}.",
                "Name a new folder with --out: all results of a table must come from one handler.");
        }

        // Builds of one commit differ, too: in changes that are not committed, and in their optional packages.
        return begun.Commit == commit && begun.Fingerprint == fingerprint
            ? begun with { CommandLine = plan.CommandLine, LeftOut = LeftOut(begun.LeftOut), Speeds = plan.Speeds ?? begun.Speeds }
            : throw new KitException(
                $"{plan.Folder} holds experiments of {TextOf(begun.Commit, begun.Fingerprint)}, and this build is {TextOf(commit, fingerprint)}.",
                "Name a new folder with --out: all results of a table must come from one build.");
    }

    private int? Subscribers => plan.Shape.Subscribers > 0 ? plan.Shape.Subscribers : null;

    private static string TextOf(GitCommit? commit, string? fingerprint) =>
        $"commit {commit?.ToString() ?? "unknown"}, fingerprint {fingerprint ?? "unknown"}";

    private IReadOnlyList<CellLeftOut> LeftOut(IReadOnlyList<CellLeftOut> before) =>
        [.. before.UnionBy(Provenance.LeftOut(plan.Cells, plan.SupportOf), left => left.Cell)];
}
