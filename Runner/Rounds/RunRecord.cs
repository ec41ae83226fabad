using Kit.Endpoints.Cells;
using Kit.Runner.Results;
using Kit.Runner.Stage;

namespace Kit.Runner.Rounds;

/// <summary>A run that goes on: its document, saved in its folder after each change, its finished rounds, and the cells that it measures.</summary>
internal sealed class RunRecord
{
    private readonly RunFolder folder;
    private readonly Action<string> note;
    private readonly List<RoundDocument> rounds;
    private readonly List<Cell> cells;

    private RunRecord(RunPlan plan, RunFolder folder, RunDocument document, Action<string> note)
    {
        this.folder = folder;
        this.note = note;
        rounds = [.. plan.Resumed?.Stored.Rounds ?? []];
        cells = [.. plan.Runnable];
        Document = document;
        HasBegun = plan.Resumed is null;
    }

    public RunDocument Document { get; private set; }

    /// <summary>The saved rounds, with those before a run was resumed.</summary>
    public IReadOnlyList<RoundDocument> Rounds => rounds;

    /// <summary>The cells that were not refused.</summary>
    public IReadOnlyList<Cell> Cells => cells;

    /// <summary>True if the run goes on, so that its end must be saved. A resumed one goes on once its servers are known to be the same.</summary>
    public bool HasBegun { get; private set; }

    /// <summary>Creates the folder of a new run, or opens that of the run that is resumed.</summary>
    /// <param name="document">Of a new run.</param>
    public static RunRecord Open(RunPlan plan, RunDocument document, Action<string> note)
    {
        if (plan.Resumed is not { } resumed)
            return new RunRecord(plan, RunFolder.Create(plan.Folder, document), document, note);

        var stored = resumed.Stored.Document;
        return new RunRecord(
            plan,
            resumed.Folder,
            stored with { Resumed = [.. stored.Resumed ?? [], new Resumption(DateTimeOffset.UtcNow, plan.CommandLine)], SeedingSeconds = null },
            note);
    }

    public void GoOn()
    {
        HasBegun = true;
        Save(run => run with { Ending = RunEnding.Running, EndedUtc = null });
    }

    public void Save(Func<RunDocument, RunDocument> change)
    {
        Document = change(Document);
        folder.Save(Document);
    }

    public void Add(RoundDocument round)
    {
        folder.Save(round);
        rounds.Add(round);
    }

    /// <summary>Leaves a cell out.</summary>
    public void Refuse(Cell cell, string because)
    {
        var name = Provenance.NameOf(cell);
        cells.Remove(cell);
        Save(run => run with
        {
            Cells = [.. run.Cells.Where(other => other != name)],
            LeftOut = [.. run.LeftOut, new CellLeftOut(name, because) { IsRefused = true }],
        });
        note($"{name} is not measured: {because}.");
    }

    public RecordedRun End(RunEnding ending)
    {
        Save(run => run with { Ending = ending, EndedUtc = DateTimeOffset.UtcNow });
        var run = new RecordedRun(Document, rounds);
        folder.WriteReports(run);
        return run;
    }

    public bool TryRemove()
    {
        try
        {
            return folder.TryRemove();
        }
        catch (KitException)
        {
            // The folder stays, and the reports say that the run was stopped.
            return false;
        }
    }

    public void TryEnd(RunEnding ending)
    {
        try
        {
            End(ending);
        }
        catch (KitException)
        {
            // The error that stopped the run says more than this one.
        }
    }
}
