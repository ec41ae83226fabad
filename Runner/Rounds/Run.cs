using Kit.Runner.Results;

namespace Kit.Runner.Rounds;

/// <summary>All rounds of one command: servers, probes, a seeded template, the rounds in their shuffled order, the reports.</summary>
internal sealed class Run(RunPlan plan, IRunDisplay display)
{
    private RunRecord? record;

    /// <summary>Saved rounds, with those before a run was resumed.</summary>
    public int Finished => record?.Rounds.Count ?? plan.Resumed?.Stored.Rounds.Count ?? 0;

    /// <summary>True if the folder of the results was removed: the run was stopped before a round had finished.</summary>
    public bool IsFolderRemoved { get; private set; }

    /// <summary>Runs it. A finished round is saved at once, and is kept if the run fails later.</summary>
    /// <exception cref="KitException">The run cannot start, or its results cannot be saved.</exception>
    /// <exception cref="OperationCanceledException">
    /// It was stopped; the reports on the finished rounds are written, or a folder without any round is removed.
    /// </exception>
    public async Task<RecordedRun> RunAsync(CancellationToken cancellationToken)
    {
        // A run that cannot start leaves no folder behind, so that the next attempt can use the same name.
        var lacking = await plan.FindLacksAsync(cancellationToken);
        var document = await plan.DescribeAsync(cancellationToken);
        if (plan.Resumed is { } earlier)
        {
            earlier.Require(document);
            earlier.Require(plan.Runnable.Select(cell => (cell, lacking.GetValueOrDefault(cell)?.Because)));
        }

        record = RunRecord.Open(plan, document, display.Note);
        using var claim = plan.Resumed is null ? FolderClaim.Take(plan.Folder) : null;
        try
        {
            foreach (var (cell, lack) in lacking)
                record.Refuse(cell, lack.Because);
            await MeasureAsync(record, cancellationToken);
        }
        catch (Exception failure)
        {
            // Its file would keep the folder.
            claim?.Dispose();
            IsFolderRemoved = cancellationToken.IsCancellationRequested && record.Rounds.Count == 0 && record.TryRemove();
            if (!IsFolderRemoved && record.HasBegun)
                record.TryEnd(RunEnding.Stopped(cancellationToken.IsCancellationRequested ? "interrupted" : KitException.MessageOf(failure)));
            cancellationToken.ThrowIfCancellationRequested();
            throw;
        }

        return record.End(RunEnding.Completed);
    }

    private async Task MeasureAsync(RunRecord measured, CancellationToken cancellationToken)
    {
        await using var servers = new ServersAndWorkers(plan, measured, display);
        try
        {
            await servers.StartAsync(cancellationToken);
            await new Probing(measured, servers, display.Note).RunAsync(cancellationToken);
            if (measured.Cells.Count == 0)
                return;

            await servers.SeedAsync(cancellationToken);
            await new RoundSequence(plan, measured, servers, display).RunAsync(cancellationToken);
            servers.EndWorkers();
        }
        catch (Exception failure) when (!cancellationToken.IsCancellationRequested)
        {
            servers.ThrowIfEnded(
                measured.Rounds.Count > 0 ? $"Finished rounds are kept; go on with: {TypedCommand.Of("run", "--resume", plan.Folder)}" : "Run again.",
                KitException.TextOf(failure));
            throw;
        }
    }
}
