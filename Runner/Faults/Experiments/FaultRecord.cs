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
        RequireTheSameStorms();
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

    /// <summary>Adds cells whose experiments are not known yet to the outstanding ones.</summary>
    public void BeginCells(IEnumerable<string> cells) => Save(document => document with { Outstanding = [.. document.Outstanding.Union(cells)] });

    /// <summary>Removes a cell: its experiments are outstanding ones of their own now.</summary>
    public void EndCell(string cell) => Save(document => document with { Outstanding = [.. document.Outstanding.Where(name => name != cell)] });

    /// <summary>Removes those that have a result.</summary>
    public void End()
    {
        lock (saving)
            Save(document => document with { Outstanding = [.. document.Outstanding.Except(results.Select(result => result.Name))] });
    }

    public void Save(Func<FaultDocument, FaultDocument> change) => folder.Save(Document = change(Document));

    /// <summary>Replaces an earlier result of the same experiment, unless that is broken.</summary>
    public void Save(FaultResult result)
    {
        lock (saving)
        {
            folder.Save(result);
            var earlier = results.Find(other => other.Name == result.Name);
            results.RemoveAll(other => other.Name == result.Name);
            results.Add(result.After(earlier));
            tell(results[^1], ++finished, planned);
        }
    }

    public void WriteReports() => folder.WriteReports(new GuaranteeReport(Document, results));

    /// <summary>Adds the servers' versions to those before.</summary>
    /// <exception cref="KitException">The folder has experiments on another version.</exception>
    public void Save(ServersInUse servers)
    {
        var begun = Document.Servers;
        if (servers.Versions.FirstOrDefault(one => begun.GetValueOrDefault(one.Key, one.Value) != one.Value) is { Key: { } title } other)
            throw OtherThan($"on {title} {begun[title]}, and here it is {other.Value}", "from one version of a server");
        Save(document => document with { Servers = begun.Concat(servers.Versions.ExceptBy(begun.Keys, one => one.Key)).ToDictionary() });
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
            throw OtherThan(
                $"whose handler {begun.Handler}, and that of this command {(begun with { Subscribers = Subscribers }).Handler}", "from one handler");
        }

        // Builds of one commit differ, too: in changes that are not committed, and in their optional packages.
        if (begun.Commit?.Id != commit?.Id || begun.Fingerprint != fingerprint)
        {
            throw OtherThan(
                $"of {TextOf(begun.Commit, begun.Fingerprint)}, and this build is {TextOf(commit, fingerprint)}", "from one build");
        }

        if (begun.DifferencesFrom(Provenance.OfHost()).ToList() is { Count: > 0 } differences)
            throw OtherThan($"of another machine: {string.Join("; ", differences)}", "from one machine");
        return begun with
        {
            Resumed = [.. begun.Resumed ?? [], new Resumption(DateTimeOffset.UtcNow, plan.CommandLine)],
            LeftOut = LeftOut(begun.LeftOut),
            Speeds = plan.Speeds ?? begun.Speeds,
        };
    }

    /// <summary>A storm is named by its cell alone: one with other numbers would be taken for the one that was asked for.</summary>
    private void RequireTheSameStorms()
    {
        if (plan.Storm is not { } asked)
            return;

        var cells = plan.Runnable.Select(Provenance.NameOf).ToHashSet();
        var other = results.Find(result => result.Storm is { } made && cells.Contains(result.Cell) && Has(result.Name) && !asked.IsThatOf(made));
        if (other is not null)
        {
            throw new KitException(
                $"{plan.Folder} holds a storm over {other.Cell} with {other.Storm!.Done}, seed {other.Storm.Seed}. This command asks for {asked.Text}.",
                "Name a new folder with --out, or type the numbers of that storm.")
            { IsUsage = true };
        }
    }

    private KitException OtherThan(string held, string must) => new(
        $"{plan.Folder} holds experiments {held}.", $"Name a new folder with --out: all results of a table must come {must}.");

    private int? Subscribers => plan.Shape.Subscribers > 0 ? plan.Shape.Subscribers : null;

    private static string TextOf(GitCommit? commit, string? fingerprint) =>
        $"commit {commit?.ToString() ?? "unknown"}, fingerprint {fingerprint ?? "unknown"}";

    private IReadOnlyList<CellLeftOut> LeftOut(IReadOnlyList<CellLeftOut> before) =>
        [.. before.UnionBy(Provenance.LeftOut(plan.Cells, plan.SupportOf), left => left.Cell)];
}
