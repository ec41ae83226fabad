using Kit.Runner.Results;

namespace Kit.Runner.Rounds;

/// <summary>The run's document, saved in its folder after each change.</summary>
internal sealed class RunRecord
{
    private RunDocument document;

    private RunRecord(RunFolder folder, RunDocument document, bool hasBegun) => (Folder, this.document, HasBegun) = (folder, document, hasBegun);

    public RunFolder Folder { get; }

    public RunDocument Document => document;

    /// <summary>True if the run goes on, so that its end must be saved. A resumed one goes on once its servers are known to be the same.</summary>
    public bool HasBegun { get; private set; }

    public static RunRecord Begin(string path, RunDocument document) => new(RunFolder.Create(path, document), document, hasBegun: true);

    public static RunRecord Resume(ResumedRun run, string commandLine)
    {
        var stored = run.Stored.Document;
        return new RunRecord(
            run.Folder,
            stored with { Resumed = [.. stored.Resumed ?? [], new Resumption(DateTimeOffset.UtcNow, commandLine)], SeedingSeconds = null },
            hasBegun: false);
    }

    public void GoOn()
    {
        HasBegun = true;
        Save(run => run with { Ending = RunEnding.Running, EndedUtc = null });
    }

    public void Save(Func<RunDocument, RunDocument> change)
    {
        document = change(document);
        Folder.Save(document);
    }

    public RecordedRun End(RunEnding ending, IReadOnlyList<RoundDocument> rounds)
    {
        Save(run => run with { Ending = ending, EndedUtc = DateTimeOffset.UtcNow });
        var run = new RecordedRun(document, rounds);
        Folder.WriteReports(run);
        return run;
    }

    public bool TryRemove()
    {
        try
        {
            return Folder.TryRemove();
        }
        catch (KitException)
        {
            // The folder stays, and the reports say that the run was stopped.
            return false;
        }
    }

    public void TryEnd(RunEnding ending, IReadOnlyList<RoundDocument> rounds)
    {
        try
        {
            End(ending, rounds);
        }
        catch (KitException)
        {
            // The error that stopped the run says more than this one.
        }
    }
}
