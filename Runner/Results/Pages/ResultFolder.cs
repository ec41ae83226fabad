using Kit.Runner.Results.Faults;

namespace Kit.Runner.Results.Pages;

/// <summary>The content of a folder of results: a run, experiments with faults, or both.</summary>
public sealed class ResultFolder
{
    private ResultFolder(string path, RecordedRun? run, GuaranteeReport? guarantees) => (Location, Run, Guarantees) = (path, run, guarantees);

    public string Location { get; }

    /// <summary>The run; <see langword="null"/> if the folder has none.</summary>
    public RecordedRun? Run { get; }

    /// <summary>The experiments with faults; <see langword="null"/> if the folder has none.</summary>
    public GuaranteeReport? Guarantees { get; }

    /// <summary>All its reports.</summary>
    public IReadOnlyList<ReportFile> Reports =>
    [
        .. Run is null ? [] : RunFolder.ReportsOf(Run),
        .. Guarantees is null ? [] : FaultFolder.ReportsOf(Guarantees),
    ];

    /// <summary>The reports that are missing or do not match the stored rounds and experiments.</summary>
    /// <exception cref="KitException">One may not be read.</exception>
    public IReadOnlyList<string> Differing => ReportFile.Differing(Location, Reports);

    private string? WhyIncomplete => this switch
    {
        { Run: null } => "it contains no run",
        { Run.Document.Ending: { State: not RunState.Completed } ending } => $"the run was not completed ({ending})",
        { Run.RoundLeftOut: { } leftOut } => leftOut.TrimEnd('.'),
        { Guarantees.Outstanding: > 0 and var outstanding } =>
            $"at least {Figures.Count(outstanding)} experiments with faults are outstanding; their command is in {FaultFolder.DocumentFile}",
        { Guarantees.IsOneCut: true } => "an experiment was not saved completely; resume them first: faults --out FOLDER",
        _ => null,
    };

    /// <exception cref="KitException">It contains neither, or a file is damaged or of another schema; the message names it.</exception>
    public static ResultFolder Load(string path)
    {
        var experiments = new FaultFolder(path);
        return RunFolder.IsIn(path) || !experiments.Exists
            ? new ResultFolder(path, RunFolder.Open(path).Load(), experiments.Exists ? experiments.LoadReport() : null)
            : new ResultFolder(path, run: null, experiments.LoadReport());
    }

    /// <summary>Writes all reports and replaces the existing ones.</summary>
    /// <exception cref="KitException">One cannot be written.</exception>
    public void WriteReports() => ReportFile.WriteAll(Reports, Location);

    /// <summary>Requires a complete run with the reports that its rounds and experiments give, as one that is handed in must be.</summary>
    /// <exception cref="KitException">It is not; the message says why.</exception>
    public void RequireWhole()
    {
        if (WhyIncomplete is { } because)
            throw new KitException($"{Location} is not a complete run: {because}.", "Run again, or name another folder.");
        if (Differing is { Count: > 0 } differing)
        {
            throw new KitException(
                $"{Location} differs from its rounds and experiments: {string.Join(", ", differing)} is missing, or does not match them.",
                $"Write the reports again with: {TypedCommand.Of("report", Location)}");
        }
    }

    public void WriteTerminal(TextWriter output, int width)
    {
        if (Run is not null)
            TerminalSummary.Write(Run, output, width);
        Guarantees?.WriteTerminal(output, width);
    }
}
