using Kit.Modes;
using Kit.Runner.Results.Faults;
using Kit.Runner.Results.Points;

namespace Kit.Runner.Results.Pages;

/// <summary>A folder of results that a page shows.</summary>
/// <param name="Folder">From the root, with slashes.</param>
/// <param name="Run"><see langword="null"/> where it holds none.</param>
/// <param name="Faults"><see langword="null"/> where it holds none.</param>
internal sealed record SourceFolder(string Folder, RunSource? Run, FaultSource? Faults)
{
    /// <summary><see langword="null"/> where it holds no load.</summary>
    public Loads.LoadDocument? Load { get; init; }
}

/// <summary>A run, and where it is.</summary>
internal sealed record RunSource(string Folder, RecordedRun Run)
{
    public string Tables => $"{Folder}/{RunFolder.TablesFile}";

    /// <summary>How it was measured, and what must stand next to all its figures.</summary>
    public string Settings => SettingsOf(Run.Cells);

    /// <summary>How it was measured, and what must stand next to the figures of some of its cells.</summary>
    public string SettingsOf(IReadOnlyList<CellResult> shown)
    {
        var (settings, host) = (Run.Document.Settings, Run.Document.Host);
        var measured = $"{Figures.Plain(settings.Rounds)} × {Figures.Count(settings.Messages)} messages on {Figures.Plain(host.Cores)} cores"
            + (settings.Quick ? ", quick: it shows that it works, not how fast it is" : "");
        return Run.WarningsNextTo(shown) is { Count: > 0 } warnings ? $"{measured} (**{string.Join(" ", warnings)}**)" : measured;
    }

    /// <summary>A bare cell on PostgreSQL, whose handler inserts and sends as that of the experiments.</summary>
    /// <exception cref="KitException">The run has no such cell.</exception>
    public CellResult CellOf(TransactionMode mode) =>
        Run.Cells.FirstOrDefault(cell =>
            ShownCells.IsBareOnPostgreSql(cell.Cell, SpeedSource.LikeExperiments) && string.Equals(cell.Cell.Mode, mode.Name, StringComparison.Ordinal))
        ?? throw new KitException(
            $"the run in {Folder} has no cell bare/postgresql/{mode}/{ShownCells.Access}/{SpeedSource.LikeExperiments}.",
            "Name the folder of a run that has it.");
}

/// <summary>Experiments, and where they are.</summary>
internal sealed record FaultSource(string Folder, FaultDocument Document, IReadOnlyList<FaultResult> Results)
{
    public string Tables => $"{Folder}/{FaultFolder.TablesFile}";

    /// <summary>What must stand next to its figures, because it is not whole.</summary>
    public IReadOnlyList<string> Lacks { get; init; } = [];

    /// <summary>The storms but those that were weakened, which show nothing about a mode. One that failed has no facts.</summary>
    public IReadOnlyList<FaultResult> Storms { get; } = [.. Results.Where(result => result is { IsStorm: true, IsWeakened: false })];

    /// <summary>The storm over a bare cell on PostgreSQL.</summary>
    /// <exception cref="KitException">There is none.</exception>
    public FaultResult StormOf(TransactionMode mode) => Shown(Storms.FirstOrDefault(
        storm => ShownCells.IsBareOnPostgreSql(storm.Cell) && string.Equals(storm.Cell.Mode, mode.Name, StringComparison.Ordinal))
        ?? throw new KitException($"{Folder} has no storm over bare/postgresql/{mode}/{ShownCells.Access}.", "Name the folder of experiments that have it."));

    /// <exception cref="KitException">The storm shows nothing.</exception>
    private FaultResult Shown(FaultResult storm) => storm.Verdict.IsConclusive() ? storm : throw new KitException(
        $"the storm over {storm.Cell} in {Folder} is {VerdictText.Of(storm.Verdict, () => "", () => "")} and shows nothing.", "Make it again.");
}
