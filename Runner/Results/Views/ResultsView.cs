using System.Text.Json;
using System.Text.Json.Serialization;
using Kit.Modes;
using Kit.Runner.Results.Pages;

namespace Kit.Runner.Results.Views;

/// <summary>
/// A folder of results for readers: <c>results.json</c>, and the content of a page. Every figure is one that the folder's reports have too, in the same
/// words.
/// </summary>
public sealed record ResultsView
{
    /// <summary>The file.</summary>
    public const string File = "results.json";

    /// <summary>Increased when a reader of an older document could misread a new one.</summary>
    public const int CurrentSchema = 1;

    /// <summary>The bins of the longest round in a chart.</summary>
    private const int MostBins = 60;

    public int Schema { get; init; } = CurrentSchema;

    /// <summary>The folder's name, by which it is cited.</summary>
    public required string Name { get; init; }

    /// <summary>The day on which it began, in UTC.</summary>
    public required string Day { get; init; }

    /// <summary>The build; <see langword="null"/> if it is not known.</summary>
    public required GitCommit? Commit { get; init; }

    /// <summary>A citation of the folder.</summary>
    public required string Citation { get; init; }

    /// <summary>Warnings next to every figure.</summary>
    public required IReadOnlyList<string> Warnings { get; init; }

    /// <summary>Answers to the questions of readers.</summary>
    public required IReadOnlyList<ViewAnswer> Answers { get; init; }

    /// <summary>The axes of the cells, with their values in reading order.</summary>
    public required IReadOnlyDictionary<string, IReadOnlyList<string>> Axes { get; init; }

    /// <summary>The cells: sorted by what was lost, the least first, then by speed.</summary>
    public required IReadOnlyList<ViewRow> Rows { get; init; }

    /// <summary>Cells that cannot run, with the reasons.</summary>
    public required IReadOnlyList<string> LeftOut { get; init; }

    /// <summary>The place, means and method of the measurements, by source.</summary>
    public required IReadOnlyList<ViewFacts> Provenance { get; init; }

    /// <summary>The rows as texts.</summary>
    [JsonIgnore]
    public ViewExport Export { get; init; } = new([], []);

    /// <summary>The evidence of the experiments.</summary>
    [JsonIgnore]
    public IReadOnlyList<ViewProof> Proofs { get; init; } = [];

    /// <summary>The scale of the rates over time.</summary>
    [JsonIgnore]
    public GraphScale Scale { get; init; } = GraphScale.Of([], MostBins);

    /// <summary>The order of the commits in each cell: by its mode, and by the probe.</summary>
    public required IReadOnlyList<ViewSequence> Sequences { get; init; }

    /// <summary>The claims of documentation, next to the observations.</summary>
    public required IReadOnlyList<ViewClaim> Claims { get; init; }

    /// <summary>The legend of the table of cells; <see langword="null"/> without a run.</summary>
    [JsonIgnore]
    public string? Legend { get; init; }

    /// <summary>Makes the view of a folder.</summary>
    /// <param name="further">With more experiments on the same cells.</param>
    /// <param name="claims">Content of docs/claims.json.</param>
    /// <exception cref="KitException">A further folder has no experiments, or none on a cell of the first.</exception>
    public static ResultsView Of(ResultFolder folder, IReadOnlyList<ResultFolder> further, string claims)
    {
        var sources = new ViewSources(folder, further);
        var scale = GraphScale.Of(folder.Run?.Rounds ?? [], MostBins);
        var rows = new ViewRows(sources, scale);
        var probes = folder.Run?.Document.Probes ?? [];
        return new ResultsView
        {
            Name = sources.Name,
            Day = Figures.Day(sources.StartedUtc),
            Commit = sources.Build,
            Citation = $"{sources.Name}, commit {ViewSources.Short(sources.Build)}, {Figures.Day(sources.StartedUtc)}. " +
                "Comparison kit for transactional message handlers.",
            Warnings = sources.Warnings,
            Answers = new ViewAnswers(sources, rows.Sorted).All,
            Axes = rows.Axes.ToDictionary(axis => axis, rows.ValuesOn),
            Rows = rows.Sorted,
            LeftOut = CellLeftOut.LinesOf(folder.Run?.Document.LeftOut ?? folder.Guarantees?.Document.LeftOut ?? []),
            Provenance = sources.Provenance,
            Export = ViewExport.Of(rows.Axes, rows.Sorted),
            Proofs = sources.Proofs,
            Scale = scale,
            Sequences = [.. probes.Select(ViewSequence.Of)],
            Claims = ViewClaim.Of(Claim.Read(claims), sources.Experiments),
            Legend = folder.Run is { } run ? ReportText.SummaryLegendOf(run) : null,
        };
    }

    /// <summary>The document.</summary>
    public string ToJson() => JsonSerializer.Serialize(this, ResultJson.Options) + "\n";
}

/// <summary>Facts about one source.</summary>
public sealed record ViewFacts(string Source, IReadOnlyList<ViewFact> Facts);

/// <summary>A fact with its name.</summary>
public sealed record ViewFact(string Name, string Fact);

/// <summary>The order of the commits in a cell.</summary>
/// <param name="Insert">The mode's rule for the handler's insert.</param>
/// <param name="RowIsCommitted">The moment at which another connection saw the row.</param>
/// <param name="Receive">The mode's rule for the receive.</param>
/// <param name="MessageLeaves">The moment at which the message no longer belonged to the queue.</param>
/// <param name="Sends">The mode's rule for the messages that the handler sends.</param>
/// <param name="AmbientTransaction">Isolation level of the handler's ambient transaction, or a text that says that there is none.</param>
public sealed record ViewSequence(
    string Cell, string Insert, string RowIsCommitted, string Receive, string MessageLeaves, string Sends, string AmbientTransaction)
{
    internal static ViewSequence Of(CellProbed probe)
    {
        var mode = TransactionMode.All.FirstOrDefault(mode => mode.Name == probe.Cell.Mode);
        return new ViewSequence(
            probe.Cell.ToString(), mode?.Insert ?? Figures.None, probe.RowCommits, mode?.Receive ?? Figures.None, probe.MessageLeaves,
            mode?.Sends ?? Figures.None, probe.AmbientTransaction ?? "none");
    }
}

/// <summary>A sentence of documentation, with the observation of the experiment that tests it.</summary>
/// <param name="Version">The version that the kit ran.</param>
/// <param name="Link">The source of the words.</param>
public sealed record ViewClaim(string Version, string Mode, string Words, string Link, string Experiment, string Observed)
{
    /// <summary>The cell of the experiment.</summary>
    [JsonIgnore]
    public string Subject { get; init; } = "";


    internal static IReadOnlyList<ViewClaim> Of(IEnumerable<Claim> claims, IReadOnlyList<FaultSource> experiments) =>
    [
        .. from claim in claims
           let result = ClaimsTable.ResultOf(claim, experiments)
           where result is not null
           select new ViewClaim(claim.Version, claim.Mode, claim.Words, claim.Link, claim.Experiment, ClaimsTable.ObservedOf(result))
           {
               Subject = result.Cell.FileName,
           },
    ];
}
