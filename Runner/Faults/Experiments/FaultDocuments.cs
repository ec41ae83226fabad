using Kit.Endpoints.Cells;
using Kit.Runner.Results;
using Kit.Runner.Results.Faults;
using Kit.Runner.Stage;
using Kit.Runner.Transports;

namespace Kit.Runner.Faults.Experiments;

/// <summary>The document of a <c>faults</c> command.</summary>
internal sealed class FaultDocuments(FaultPlan plan, FaultFolder folder)
{
    /// <summary>A new document, or that of the folder if this build made it.</summary>
    /// <exception cref="KitException">Another build made it, or it is damaged.</exception>
    public async Task<FaultDocument> BeginAsync(CancellationToken cancellationToken)
    {
        var commit = await Provenance.CommitAsync(cancellationToken);
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
    [
        .. before.UnionBy(
            plan.Cells.Select(cell => (Cell: cell, plan.SupportOf(cell).Because)).Where(one => one.Because is not null)
                .Select(one => new CellLeftOut(Provenance.NameOf(one.Cell), one.Because!)),
            left => left.Cell),
    ];

    /// <summary>The servers' versions, added to those before.</summary>
    public static Dictionary<string, string> VersionsOf(RunServers servers, IReadOnlyDictionary<string, string> before)
    {
        var versions = new Dictionary<string, string>(before);
        foreach (var (transport, server) in servers.All)
            versions[transport.Title] = server.Version ?? "unknown";
        return versions;
    }
}
