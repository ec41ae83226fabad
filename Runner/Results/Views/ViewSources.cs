using Kit.Guarantees;
using Kit.Modes;
using Kit.Runner.Results.Faults;
using Kit.Runner.Results.Pages;
using Kit.Runner.Results.Points;

namespace Kit.Runner.Results.Views;

/// <summary>A folder of results, and further folders with experiments on its cells.</summary>
internal sealed class ViewSources
{
    private const string Unknown = "unknown";

    private readonly List<GuaranteeReport> reports = [];
    private readonly ILookup<string, (FaultSource Source, FaultResult Result)> bySubject;

    /// <exception cref="KitException">A further folder has no experiments, or none on a cell of the first.</exception>
    public ViewSources(ResultFolder folder, IReadOnlyList<ResultFolder> further)
    {
        (Run, Name) = (folder.Run, NameOf(folder));
        Experiments = [.. folder.Guarantees is null ? [] : new[] { SourceOf(folder, folder.Guarantees) }, .. further.Select(SourceOf)];
        foreach (var (other, source) in further.Zip(Experiments.TakeLast(further.Count)))
            RequireCommonCell(folder, other, source);

        bySubject = Experiments.SelectMany(source => source.Results.Select(result => (Source: source, Result: result)))
            .ToLookup(experiment => experiment.Result.Cell.FileName, StringComparer.Ordinal);
    }

    public RecordedRun? Run { get; }

    public string Name { get; }

    public IReadOnlyList<FaultSource> Experiments { get; }

    /// <summary>The measured build; without a run, the build of the experiments.</summary>
    public GitCommit? Build => Run is null ? Experiments[0].Document.Commit : Run.Document.Commit;

    private string? Fingerprint => Run is null ? Experiments[0].Document.Fingerprint : Run.Document.Fingerprint;

    public DateTimeOffset StartedUtc => Run?.Document.StartedUtc ?? Experiments[0].Document.StartedUtc;

    public IReadOnlyList<string> Warnings =>
    [
        .. Run is null ? [] : Run.Warnings,
        .. Run?.Document.Settings is { Quick: true } ? ["A quick run: it shows that everything works, not how fast it is."] : Array.Empty<string>(),
        .. Run?.RoundLeftOut is { } leftOut ? [leftOut] : Array.Empty<string>(),
        .. Build is { Dirty: true } && Fingerprint is null
            ? ["The build had uncommitted changes, so nothing proves that the experiments are of the same build."]
            : Array.Empty<string>(),
        .. reports.SelectMany(report => report.Lacks()),
    ];

    /// <summary>Facts by source, the run first.</summary>
    public IReadOnlyList<ViewFacts> Provenance =>
    [
        .. Run is null
            ? Array.Empty<ViewFacts>()
            : [new ViewFacts($"The run in {Name}", [.. RunFacts.Of(Run).Select(fact => new ViewFact(fact.Name, fact.Fact))])],
        .. Experiments.Zip(reports, (source, report) =>
            new ViewFacts($"The experiments in {source.Folder}", [.. report.Facts().Select(FactOf)])),
    ];

    public IReadOnlyList<ViewProof> Proofs =>
        [.. bySubject.Select(subject => new ViewProof(subject.Key, subject.First().Result.Cell.ToString(), [.. subject.Select(ExperimentOf)]))];

    /// <summary>The cell of the experiments on a measured one. Their handler is always the same, whatever the measured one did.</summary>
    public static CellName SubjectOf(CellName cell) => cell.Without(AxisName.Scenario);

    public IReadOnlyList<(FaultSource Source, FaultResult Result)> Of(CellName subject) => [.. bySubject[subject.FileName]];

    public bool IsOfThisBuild(FaultSource source) =>
        GitCommit.AreOneBuild(source.Document.Commit, source.Document.Fingerprint, Build, Fingerprint);

    public static string Short(GitCommit? commit) => commit?.Name ?? Unknown;

    public static FileLine LineOf(FaultSource source, FaultResult result) => new(source.Folder, FaultFolder.LinesFile, result.Line);

    private static string NameOf(ResultFolder folder) => Path.GetFileName(Path.TrimEndingDirectorySeparator(Path.GetFullPath(folder.Location)));

    private FaultSource SourceOf(ResultFolder folder) => SourceOf(folder, folder.Guarantees ?? throw new KitException(
        $"{folder.Location} has no experiments with faults.", "Name a folder that has: faults --out FOLDER"));

    private FaultSource SourceOf(ResultFolder folder, GuaranteeReport report)
    {
        reports.Add(report);
        return new FaultSource(NameOf(folder), report.Document, report.Ordered);
    }

    private void RequireCommonCell(ResultFolder folder, ResultFolder other, FaultSource source)
    {
        var cells = (Run?.Cells.Select(cell => SubjectOf(cell.Cell)) ?? Experiments[0].Results.Select(result => result.Cell)).ToHashSet();
        if (!source.Results.Any(result => cells.Contains(result.Cell)))
        {
            throw new KitException(
                $"{folder.Location} and {other.Location} have no cell in common.",
                "Name experiments on cells that the first folder has; reports of two runs that share none are two pages.");
        }
    }

    private ViewExperiment ExperimentOf((FaultSource Source, FaultResult Result) experiment)
    {
        var (source, result) = experiment;
        var isOnce = result.Verdict is FaultVerdict.Kept or FaultVerdict.NoWindow && result.ViolationCount == 0
            && GuaranteeTables.MessagesNotOnceOf(result) == 0;
        return new ViewExperiment(
            result.Fault,
            Fault.All.FirstOrDefault(fault => fault.Name == result.Fault)?.What ?? result.Storm?.Done ?? result.Point?.Moment,
            Words.Of(result.Verdict),
            Words.Of(result.Promised),
            result.Because ?? GuaranteeTables.ObservedOf(result),
            isOnce,
            IsOfThisBuild(source) ? null : Short(source.Document.Commit),
            LineOf(source, result),
            isOnce ? [] : FoundIn(result));
    }

    private static IReadOnlyList<string> FoundIn(FaultResult result) =>
    [
        .. result.Fired,
        .. result.Known is { } known ? [$"known: {known}"] : Array.Empty<string>(),
        .. result.Evidence,
        .. result.Violations.Select(violation => $"{violation.Because}: {string.Join("; ", violation.Evidence)}"),
    ];

    private static ViewFact FactOf(string line) =>
        line.Split(": ", 2) is [var name, var fact] ? new ViewFact(name, fact) : new ViewFact("", line);
}
