using System.Text.Json.Serialization;
using Kit.Modes;
using Kit.Runner.Results.Points;

namespace Kit.Runner.Results.Faults;

/// <summary>The facts about a run of experiments as a whole: <c>faults.json</c>.</summary>
public sealed record FaultDocument
{
    private static readonly IReadOnlyList<PointWay> OfOlderDocuments =
        [PointWay.NeverSent, PointWay.Killed, PointWay.Cut, PointWay.Unanswered];

    public int Schema { get; init; } = ResultJson.Schema;

    /// <summary>The command as typed; in older documents the last one, if the run was resumed.</summary>
    public required string CommandLine { get; init; }

    /// <summary>The later commands on the folder, the earliest first; absent if there were none.</summary>
    public IReadOnlyList<Resumption>? Resumed { get; init; }

    public required DateTimeOffset StartedUtc { get; init; }

    public required GitCommit? Commit { get; init; }

    /// <summary>The fingerprint of the kit's assemblies, as <see cref="BuildFacts.Fingerprint"/>; absent in older documents.</summary>
    public string? Fingerprint { get; init; }

    public required HostFacts Host { get; init; }

    /// <summary>Version by package name.</summary>
    public required IReadOnlyDictionary<string, string> Packages { get; init; }

    /// <summary>Version by server.</summary>
    public IReadOnlyDictionary<string, string> Servers { get; init; } = new Dictionary<string, string>();

    /// <summary>The values that names of cells leave out, by axis; absent if they leave nothing out.</summary>
    public IReadOnlyDictionary<string, string>? Implied { get; init; }

    /// <summary>The queues that have subscribed to the event that the handler publishes; absent if it sends to one queue.</summary>
    public int? Subscribers { get; init; }

    /// <summary>The work of the experiments' own handler, as a clause.</summary>
    public string Handler => Subscribers is { } count
        ? $"writes two rows and publishes one event, to which {count} {(count == 1 ? "queue has" : "queues have")} subscribed"
        : "writes two rows and sends one message";

    /// <summary>Cells that cannot run, with the reasons.</summary>
    public IReadOnlyList<CellLeftOut> LeftOut { get; init; } = [];

    /// <summary>
    /// The names of the experiments that were still outstanding when this was written, and of cells whose experiments were not known yet. If the process died,
    /// some of them may be finished.
    /// </summary>
    public IReadOnlyList<string> Outstanding { get; init; } = [];

    /// <summary>The points of one undisturbed handling, by cell; absent if none was recorded.</summary>
    public IReadOnlyDictionary<string, IReadOnlyList<CrashPoint>>? Points { get; init; }

    /// <summary>The ways in which the points were to be met. Absent in a document without points, and in older ones, whose points were met in a to d.</summary>
    public IReadOnlyList<PointWay>? Ways { get; init; }

    /// <summary>The ways in which the points were to be met, never absent.</summary>
    public IReadOnlyList<PointWay> AllWays => Ways ?? (Points is null ? [] : OfOlderDocuments);

    /// <summary>The source of the speeds; <see langword="null"/> if no run was named.</summary>
    [JsonInclude]
    public SpeedSource? Speeds { get; init; }

    /// <summary>The differences in words that keep results of a machine from belonging to these.</summary>
    public IEnumerable<string> DifferencesFrom(HostFacts now) => RunDifferences.Between((Host, Servers, null), (now, Servers, null));

    /// <summary>The document of a command that meets points in these ways, too.</summary>
    public FaultDocument With(IReadOnlyList<PointWay> more) =>
        this with { Ways = [.. AllWays.Union(more).Order()] };
}

/// <summary>A run without faults, whose speeds are shown next to the guarantees.</summary>
/// <param name="Folder">As typed.</param>
/// <param name="PerSecond">Mean messages per second by cell, in the names of the experiments.</param>
public sealed record SpeedSource(string Folder, GitCommit? Commit, IReadOnlyDictionary<string, double> PerSecond)
{
    /// <summary>The scenario that is closest to the handler of the experiments, which inserts two rows and sends a message.</summary>
    public const string LikeExperiments = "insert-and-send";

    /// <summary>The scenario of the measured handler; <see langword="null"/>: one insert.</summary>
    [JsonInclude]
    public string? Scenario { get; init; }

    /// <summary>The work of the measured handler, as a clause.</summary>
    public string Handler => Scenario is { } scenario
        ? $"with the handler of the scenario {scenario}"
        : "whose handler inserts one row and sends nothing, which is less than the experiments' handler does";

    /// <summary>True if the run was made with this build, and neither had uncommitted changes.</summary>
    public bool IsOfBuild(GitCommit? build) => Commit?.IsSameBuildAs(build) == true;

    /// <summary>Reads the speeds of the handler that is closest to the experiments' handler, if the run has it.</summary>
    /// <exception cref="KitException">There is no run in the folder, or it is damaged.</exception>
    public static SpeedSource Read(string folder)
    {
        var run = RunFolder.Open(folder).Load();
        var scenario = run.Cells.Any(cell => cell.Cell.On(AxisName.Scenario) == LikeExperiments) ? LikeExperiments : null;
        return new SpeedSource(
            folder, run.Document.Commit,
            run.Cells.Where(cell => cell.Cell.On(AxisName.Scenario) == scenario && cell.Rate is not null)
                .ToDictionary(cell => cell.Cell.Without(AxisName.Scenario).ToString(), cell => cell.Rate!.Mean))
        {
            Scenario = scenario,
        };
    }

    public double? Of(CellName cell) => PerSecond.TryGetValue(cell.ToString(), out var speed) ? speed : null;
}
