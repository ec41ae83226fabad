using Kit.Endpoints.Cells;
using Kit.Modes;
using Kit.Runner.Results;
using Kit.Runner.Servers;

namespace Kit.Runner.Rounds;

/// <summary>All rounds of one command: a server, a seeded template, the rounds in their shuffled order, the reports.</summary>
internal sealed class Run(RunPlan plan, IRunDisplay display)
{
    private readonly List<RoundDocument> rounds = [];
    private int planned = plan.Runnable.Count * plan.Sizes.Rounds;

    /// <summary>How many rounds have ended and are saved.</summary>
    public int Finished => rounds.Count;

    /// <summary>Runs it. Finished rounds are saved at once and survive whatever comes after them.</summary>
    /// <exception cref="KitException">The run cannot start, or its results cannot be saved.</exception>
    /// <exception cref="OperationCanceledException">It was stopped; the reports over what was finished are written.</exception>
    public async Task<RecordedRun> RunAsync(CancellationToken cancellationToken)
    {
        // What cannot start leaves no folder behind that the next attempt would have to avoid.
        if (plan.Runnable.Count == 0)
            throw new KitException(WhyNothingRuns(), "See 'list' for every cell and its reason.");
        if (plan.PostgreSql is not null)
            await PostgreSqlFacts.RequireAsync(plan.PostgreSql, NeedsTwoPhase(), cancellationToken);

        var record = new Record(plan.Folder, await Provenance.OfAsync(plan, cancellationToken));
        try
        {
            await MeasureAsync(record, cancellationToken);
        }
        catch (Exception failure)
        {
            record.TryEnd(RunEnding.Stopped(cancellationToken.IsCancellationRequested ? "interrupted" : failure.Message), rounds);
            cancellationToken.ThrowIfCancellationRequested();
            throw;
        }

        return record.End(RunEnding.Completed, rounds);
    }

    private async Task MeasureAsync(Record record, CancellationToken cancellationToken)
    {
        await using var own = plan.PostgreSql is null ? await StartServerAsync(cancellationToken) : null;
        var server = own?.ConnectionString ?? plan.PostgreSql!;
        var facts = await PostgreSqlFacts.RequireAsync(server, NeedsTwoPhase(), cancellationToken);
        foreach (var leftover in await DatabaseOwner.RemoveLeftoversAsync(server, cancellationToken))
            display.Note($"Removed {leftover}, left by a run that crashed.");

        var serverFacts = await Provenance.OfServerAsync(server, own is not null, cancellationToken);
        record.Save(run => run with { Server = serverFacts });

        await using var databases = new KitDatabases(server);
        var seeding = await databases.SeedAsync(plan.Sizes.SeedRows, display.Seeding(plan.Sizes.SeedRows), cancellationToken);
        record.Save(run => run with { SeedingSeconds = seeding.TotalSeconds });

        var settings = new RoundSettings(
            plan.Sizes, server, facts.TracksCommitTimestamps ? ClockSource.CommitTimestamps : ClockSource.HandlerCompletions, own?.PostmasterPid);
        foreach (var (cell, round) in plan.Order())
            await MeasureAsync(record.Folder, settings, databases, cell, round, attempt: 1, cancellationToken);

        if (plan.RepeatNoisy)
            await RepeatNoisyAsync(record.Folder, settings, databases, cancellationToken);
    }

    private async Task RepeatNoisyAsync(RunFolder folder, RoundSettings settings, KitDatabases databases, CancellationToken cancellationToken)
    {
        var noisy = rounds.Where(round => round.Noise.IsNoisy()).ToList();
        planned += noisy.Count;
        if (noisy.Count > 0)
            display.Note($"Other processes took more than {Noise.DefaultLimit:P0} of the machine in {noisy.Count} rounds; they are run once more.");

        foreach (var round in noisy)
            await MeasureAsync(folder, settings, databases, plan.Runnable.Single(cell => Provenance.NameOf(cell) == round.Cell), round.Round, attempt: 2, cancellationToken);
    }

    private async Task MeasureAsync(
        RunFolder folder, RoundSettings settings, KitDatabases databases, Cell cell, int round, int attempt, CancellationToken cancellationToken)
    {
        var progress = display.Round($"{Provenance.NameOf(cell)}, round {round} of {plan.Sizes.Rounds}{(attempt > 1 ? ", again" : "")}", plan.Sizes.Messages);
        var document = await new Round(settings, databases, cell, progress).RunAsync(round, attempt, cancellationToken);
        cancellationToken.ThrowIfCancellationRequested();
        folder.Save(document);
        rounds.Add(document);
        display.Finished(document, rounds.Count, planned);
    }

    private async Task<PrivatePostgreSql> StartServerAsync(CancellationToken cancellationToken)
    {
        display.Note("Starting a PostgreSQL server of the kit's own.");
        return await PrivatePostgreSql.StartAsync(cancellationToken);
    }

    private string WhyNothingRuns() => plan.Cells.Count == 0
        ? "There is no such cell: no framework, transport, mode and access library that were named go together."
        : $"None of the cells can run: {plan.Cells[0].Support.Because}.";

    private bool NeedsTwoPhase() => plan.Runnable.Any(cell =>
        cell.Mode == TransactionMode.FullDtc || cell.Mode == TransactionMode.FullDtcWaiting || cell.Mode == TransactionMode.NpgsqlScope);

    /// <summary>The run's document, as it grows, in its folder.</summary>
    private sealed class Record(string path, RunDocument document)
    {
        private RunDocument document = document;

        public RunFolder Folder { get; } = RunFolder.Create(path, document);

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

        public void TryEnd(RunEnding ending, IReadOnlyList<RoundDocument> rounds)
        {
            try
            {
                End(ending, rounds);
            }
            catch (KitException)
            {
                // What stopped the run says more than what followed from it.
            }
        }
    }
}
