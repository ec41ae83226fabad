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

    /// <summary>Runs it. Finished rounds are saved at once and survive whatever comes after them.</summary>
    /// <exception cref="KitException">The run cannot start, or its results cannot be saved.</exception>
    /// <exception cref="OperationCanceledException">It was stopped; the reports over what was finished are written.</exception>
    public async Task<RecordedRun> RunAsync(CancellationToken cancellationToken)
    {
        if (plan.Runnable.Count == 0)
            throw new KitException($"None of the cells can run: {plan.Cells[0].Support.Because}.", "See 'list' for every cell and its reason.");

        var document = await Provenance.OfAsync(plan, cancellationToken);
        var folder = RunFolder.Create(plan.Folder, document);
        try
        {
            document = await MeasureAsync(folder, document, cancellationToken);
            document = document with { Ending = RunEnding.Completed };
        }
        catch (OperationCanceledException)
        {
            document = document with { Ending = RunEnding.Stopped("Ctrl+C") };
            throw;
        }
        catch (Exception failure)
        {
            document = document with { Ending = RunEnding.Stopped(failure.Message) };
            throw;
        }
        finally
        {
            document = document with { EndedUtc = DateTimeOffset.UtcNow };
            folder.Save(document);
            folder.WriteReports(new RecordedRun(document, rounds));
        }

        return new RecordedRun(document, rounds);
    }

    private async Task<RunDocument> MeasureAsync(RunFolder folder, RunDocument document, CancellationToken cancellationToken)
    {
        await using var own = plan.PostgreSql is null ? await StartServerAsync(cancellationToken) : null;
        var server = own?.ConnectionString ?? plan.PostgreSql!;
        var facts = await PostgreSqlFacts.RequireAsync(server, NeedsTwoPhase(), cancellationToken);
        foreach (var leftover in await DatabaseOwner.RemoveLeftoversAsync(server, cancellationToken))
            display.Note($"Removed {leftover}, left by a run that crashed.");

        document = document with { Server = await Provenance.OfServerAsync(server, own is not null, cancellationToken) };
        folder.Save(document);

        await using var databases = new KitDatabases(server);
        var seeding = await databases.SeedAsync(plan.Sizes.SeedRows, display.Count("seeding rows", plan.Sizes.SeedRows), cancellationToken);
        document = document with { SeedingSeconds = seeding.TotalSeconds };
        folder.Save(document);

        var settings = new RoundSettings(
            plan.Sizes, server, facts.TracksCommitTimestamps ? ClockSource.CommitTimestamps : ClockSource.HandlerCompletions, own?.PostmasterPid);
        foreach (var (cell, round) in plan.Order())
            await MeasureAsync(folder, settings, databases, cell, round, attempt: 1, cancellationToken);

        if (plan.RepeatNoisy)
            await RepeatNoisyAsync(folder, settings, databases, cancellationToken);

        return document;
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
        var progress = display.Count($"{cell}, round {round} of {plan.Sizes.Rounds}{(attempt > 1 ? ", again" : "")}", plan.Sizes.Messages);
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

    private bool NeedsTwoPhase() => plan.Runnable.Any(cell =>
        cell.Mode == TransactionMode.FullDtc || cell.Mode == TransactionMode.FullDtcWaiting || cell.Mode == TransactionMode.NpgsqlScope);
}
