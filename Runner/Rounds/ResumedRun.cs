using System.Globalization;
using Kit.Endpoints.Cells;
using Kit.Runner.Results;
using Kit.Runner.Stage;

namespace Kit.Runner.Rounds;

/// <summary>A run that was stopped or killed, to be resumed in its folder. No other process can measure into the folder until it is disposed of.</summary>
internal sealed class ResumedRun : IDisposable
{
    private readonly FolderClaim claim;
    private readonly bool retryFailed;
    private readonly ILookup<(CellName Cell, int Round), RoundDocument> attempts;

    private ResumedRun(RunFolder folder, FolderClaim claim, bool retryFailed)
    {
        this.claim = claim;
        this.retryFailed = retryFailed;
        Folder = folder;
        Stored = folder.LoadToAppend();
        attempts = Stored.Rounds.ToLookup(round => (round.Cell, round.Round));
    }

    public RunFolder Folder { get; }

    public RecordedRun Stored { get; }

    public bool RepeatsNoisy => Stored.Document.RepeatsNoisy is true;

    /// <summary>The connections that its PostgreSQL server accepted; <see langword="null"/>: not known.</summary>
    public int? MaxConnections =>
        Stored.Document.Server.GetValueOrDefault("max_connections") is { } most ? int.Parse(most, CultureInfo.InvariantCulture) : null;

    /// <summary>True if nothing is left to do.</summary>
    public bool IsComplete => Stored.Document.Ending.State is RunState.Completed && !Missing.Any();

    private IEnumerable<int> Missing =>
        from cell in Stored.Document.Cells
        from round in Enumerable.Range(1, Stored.Document.Settings.Rounds)
        select NextAttempt(cell, round) into attempt
        where attempt is not null
        select attempt.Value;

    /// <param name="path">The folder of the run.</param>
    /// <param name="retryFailed">True if rounds without a valid attempt are tried once more.</param>
    /// <exception cref="KitException">It contains no run, one that still goes on, or one that cannot be resumed. The message says why.</exception>
    public static ResumedRun Open(string path, bool retryFailed)
    {
        var folder = RunFolder.Open(path);
        var taken = FolderClaim.Take(path);
        try
        {
            var resumed = new ResumedRun(folder, taken, retryFailed);
            if (resumed.Stored.Document is { Fingerprint: null } or { RepeatsNoisy: null })
                throw Refusal(path, ["an earlier version of the kit made it, which did not store what is needed"]);
            if (resumed.Stored.Document.Build is not null)
                throw Refusal(path, ["it is one side of a comparison; repeat the command 'compare'"]);

            return resumed;
        }
        catch
        {
            taken.Dispose();
            throw;
        }
    }

    /// <summary>The cells that the run measures, in its order.</summary>
    /// <exception cref="KitException">This build does not have one of them.</exception>
    public IReadOnlyList<Cell> FindCells()
    {
        return [.. Stored.Document.Cells.Select(name => Find(name) ?? throw Refusal(Folder.Location, [$"this build has no cell {name}"]))];

        static Cell? Find(CellName name) => Cell.Find(name.FileName) is { } cell && Provenance.NameOf(cell) == name ? cell : null;
    }

    /// <summary>The number of the attempt that a round needs; <see langword="null"/> if it needs none.</summary>
    public int? NextAttempt(CellName cell, int round)
    {
        var made = attempts[(cell, round)].ToList();
        return made.Count == 0 ? 1
            : retryFailed && !made.Exists(attempt => attempt.Outcome.IsValid()) ? made.Max(attempt => attempt.Attempt) + 1
            : null;
    }

    /// <exception cref="KitException">The rounds that follow would not belong to the same run. The message names each difference.</exception>
    public void Require(RunDocument now)
    {
        if (RunDifferences.Between(Stored.Document, now).ToList() is { Count: > 0 } differences)
            throw Refusal(Folder.Location, differences);
    }

    /// <exception cref="KitException">A cell cannot run here any more.</exception>
    public void Require(IEnumerable<(Cell Cell, string? Because)> cells)
    {
        var reasons = cells.Where(cell => cell.Because is not null).Select(cell => $"{Provenance.NameOf(cell.Cell)} cannot run here: {cell.Because}").ToList();
        if (reasons.Count > 0)
            throw Refusal(Folder.Location, reasons);
    }

    public void Dispose() => claim.Dispose();

    private static KitException Refusal(string folder, IReadOnlyList<string> reasons) => new(
        $"The run in {folder} cannot be resumed: {string.Join("; ", reasons)}.",
        "Its finished rounds are kept ('report' shows them). Start a new run, or resume it with the build and the servers that began it.");
}
