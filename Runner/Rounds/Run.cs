using Kit.Endpoints.Cells;
using Kit.Runner.Results;
using Kit.Runner.Rounds.Joining;
using Kit.Runner.Stage;
using Kit.Runner.Stage.Transports;

namespace Kit.Runner.Rounds;

/// <summary>All rounds of one command: a server, a seeded template, the rounds in their shuffled order, the reports.</summary>
internal sealed class Run(RunPlan plan, IRunDisplay display)
{
    private readonly List<RoundDocument> rounds = [.. plan.Resumed?.Stored.Rounds ?? []];
    private readonly List<Cell> cells = [.. plan.Runnable];
    private readonly IReadOnlyList<WorkerFacts> earlierWorkers = plan.Resumed?.Stored.Document.Workers ?? [];
    private int planned;

    /// <summary>How many rounds are saved, with those before a run was resumed.</summary>
    public int Finished => rounds.Count;

    /// <summary>
    /// How many cells were left out of the measurement: their probe disagreed with their label, or their server did not
    /// start or lacks something that they need.
    /// </summary>
    public int Refused => plan.Runnable.Count - cells.Count;

    /// <summary>Whether the folder of the results was removed: the run was stopped before a round had finished.</summary>
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
            earlier.Require(cells.Select(cell => (cell, lacking.GetValueOrDefault(cell)?.Because)));
        }

        var record = plan.Resumed is { } resumed ? RunRecord.Resume(resumed, plan.CommandLine) : RunRecord.Begin(plan.Folder, document);
        using var claim = plan.Resumed is null ? FolderClaim.Take(plan.Folder) : null;
        try
        {
            foreach (var (cell, lack) in lacking)
                Refuse(record, cell, lack.Because);
            await MeasureOnServersAsync(record, cancellationToken);
        }
        catch (Exception failure)
        {
            // Its file would keep the folder.
            claim?.Dispose();
            IsFolderRemoved = cancellationToken.IsCancellationRequested && rounds.Count == 0 && record.TryRemove();
            if (!IsFolderRemoved && record.HasBegun)
                record.TryEnd(RunEnding.Stopped(cancellationToken.IsCancellationRequested ? "interrupted" : KitException.MessageOf(failure)), rounds);
            cancellationToken.ThrowIfCancellationRequested();
            throw;
        }

        return record.End(RunEnding.Completed, rounds);
    }

    private async Task MeasureOnServersAsync(RunRecord record, CancellationToken cancellationToken)
    {
        await using var servers = new ServersInUse();
        try
        {
            await MeasureAllAsync(servers, record, cancellationToken);
        }
        catch (Exception failure) when (!cancellationToken.IsCancellationRequested)
        {
            servers.ThrowIfEnded(
                rounds.Count > 0 ? $"Finished rounds are kept; go on with: run --resume {plan.Folder}" : "Run again.", KitException.TextOf(failure));
            throw;
        }
    }

    private async Task MeasureAllAsync(ServersInUse servers, RunRecord record, CancellationToken cancellationToken)
    {
        Action<Cell, string> refuse = (cell, because) => Refuse(record, cell, because);
        var start = new ServerStart(plan, record, display.Note);
        foreach (var transport in Needed().Where(transport => cells.Exists(transport.Serves)))
            await start.StartAsync(servers, transport, cells, refuse, cancellationToken);
        foreach (var (transport, server) in servers.All)
            await start.DescribeAsync(transport, server, cancellationToken);

        if (plan.Resumed is { } earlier)
            earlier.Require(earlier.Stored.Document with { Disk = servers.MeasureDisk() });
        record.GoOn();
        DiskFacts? disk = null;
        var clocks = new Dictionary<DatabaseInUse, ClockSource>();
        foreach (var database in cells.Select(servers.WidgetsOf).Distinct())
            clocks[database] = await database.ReadClockAsync(cancellationToken);

        await using var workers = plan.Workers is null ? null : await OpenAsync(plan.Workers, servers, cancellationToken);
        await WaitForWorkersAsync(workers, record, cancellationToken);
        await new Probing(record, rounds, display.Note).RunAsync([.. cells], SettingsOf, refuse, cancellationToken);
        if (cells.Count == 0)
            return;

        foreach (var database in cells.Select(servers.WidgetsOf).Distinct())
        {
            var seeding = await database.SeedAsync(plan.Sizes.SeedRows, display.Seeding(plan.Sizes.SeedRows), cancellationToken);
            record.Save(run => run with { SeedingSeconds = (run.SeedingSeconds ?? 0) + seeding.TotalSeconds });
        }

        // A resumed run's rounds are all judged by the flush from before its first one.
        disk = plan.Resumed?.Stored.Document.Disk ?? servers.MeasureDisk();
        record.Save(run => run with { Disk = disk });
        await TryLengthsAsync(record, SettingsOf, workers, cancellationToken);
        planned = cells.Count * plan.Sizes.Rounds;
        display.Plan(
            [.. cells.Select(cell => Provenance.NameOf(cell).ToString())], plan.Sizes.Rounds, plan.Precision is not null, [.. rounds.Select(FinishedRound.Of)]);
        var begun = 0;
        await foreach (var (cell, round) in plan.Rounds(cells, cancellationToken))
        {
            if (round > begun && IsPreciseAfter(record, begun))
                break;
            begun = round;
            if (plan.AttemptAt(cell, round) is { } attempt)
            {
                await WaitForWorkersAsync(workers, record, cancellationToken);
                await MeasureRoundAsync(record.Folder, SettingsOf(cell), cell, round, attempt, cancellationToken);
            }
        }

        planned = rounds.Count;
        if (plan.RepeatNoisy)
            await RepeatNoisyAsync(record, SettingsOf, workers, cancellationToken);

        if (plan.Precision is { } asked)
        {
            record.Save(run => run with
            {
                Settings = run.Settings with { Rounds = begun },
                Precision = asked with { Widest = new RecordedRun(run, rounds).WidestInterval },
            });
        }

        workers?.Ending = JoinedWorkers.Completed;

        RoundSettings SettingsOf(Cell cell) =>
            new(SizesOf(record.Document, cell), ClockOf(cell), servers.Of(cell), servers.WidgetsOf(cell), disk, servers.Processes) { Workers = workers };

        // Without a row there is no commit that has a time.
        ClockSource ClockOf(Cell cell) => cell.Scenario.Rows == 0 ? ClockSource.HandlerCompletions : clocks[servers.WidgetsOf(cell)];
    }

    /// <summary>Lets workers find the run, on the server that has the widgets of all its cells.</summary>
    private async Task<JoinedWorkers> OpenAsync(WorkerNeeds needs, ServersInUse servers, CancellationToken cancellationToken)
    {
        var build = await JoiningBuild.OfThisAsync(cancellationToken);
        var offer = new RunOffer(build, Environment.MachineName, plan.CommandLine, [.. Needed().Select(transport => transport.Name)]);
        return await JoinedWorkers.OpenAsync(
            offer, needs, cells.Select(servers.WidgetsOf).Distinct().Single().ConnectionString, display.Note, cancellationToken);
    }

    /// <summary>Goes on when all workers are there. One can be a new one: its machine is recorded, too.</summary>
    private async Task WaitForWorkersAsync(JoinedWorkers? workers, RunRecord record, CancellationToken cancellationToken)
    {
        if (workers is null)
            return;

        await workers.WaitAsync(cancellationToken);
        IReadOnlyList<WorkerFacts> all = [.. earlierWorkers, .. workers.Facts];
        if (all.Count != record.Document.Workers?.Count)
            record.Save(run => run with { Workers = all });
    }

    /// <summary>Drains each cell once, unmeasured, to find out how many messages it needs for a round that is long enough.</summary>
    private async Task TryLengthsAsync(RunRecord record, Func<Cell, RoundSettings> settingsOf, JoinedWorkers? workers, CancellationToken cancellationToken)
    {
        if (record.Document.AtLeast is not { } asked)
            return;

        // A resumed run has those of the cells that were tried before.
        foreach (var cell in cells.Where(cell => asked.Cells.All(tried => tried.Cell != Provenance.NameOf(cell))))
        {
            await WaitForWorkersAsync(workers, record, cancellationToken);
            var name = Provenance.NameOf(cell);
            var progress = display.Round(name.ToString(), number: 0, $"{name}, trial of its length", plan.Sizes.Messages);
            var trial = await new Round(settingsOf(cell), cell, progress).RunAsync(number: 0, attempt: 1, cancellationToken);
            cancellationToken.ThrowIfCancellationRequested();
            var messages = asked.MessagesAfter(plan.Sizes.Messages, trial.Outcome.IsValid() ? trial.Throughput : null);
            record.Save(run => run with { AtLeast = run.AtLeast! with { Cells = [.. run.AtLeast.Cells, new CellMessages(name, messages)] } });
            display.Note($"{name}: {Figures.Count(messages)} messages in each round, after a trial of {Figures.Measured(trial.Throughput.ElapsedSeconds)} s.");
        }
    }

    private RunSettings SizesOf(RunDocument document, Cell cell) => plan.Sizes with
    {
        Concurrency = plan.ConcurrencyOf(cell),
        Messages = document.AtLeast?.Cells.FirstOrDefault(tried => tried.Cell == Provenance.NameOf(cell))?.Messages ?? plan.Sizes.Messages,
    };

    /// <summary>
    /// Whether the ratios are as narrow as was asked for. Later rounds, which a resumed run may have, do not count: it ends where it would have.
    /// </summary>
    private bool IsPreciseAfter(RunRecord record, int round) => plan.Precision is { } precision
        && precision.IsReached(round, new RecordedRun(record.Document, [.. rounds.Where(each => each.Round <= round)]).WidestInterval);

    private void Refuse(RunRecord record, Cell cell, string because)
    {
        var name = Provenance.NameOf(cell);
        cells.Remove(cell);
        record.Save(run => run with { Cells = [.. run.Cells.Where(other => other != name)], LeftOut = [.. run.LeftOut, new CellLeftOut(name, because)] });
        display.Note($"{name} is not measured: {because}.");
    }

    private async Task RepeatNoisyAsync(RunRecord record, Func<Cell, RoundSettings> settingsOf, JoinedWorkers? workers, CancellationToken cancellationToken)
    {
        // One that has been repeated is not repeated again.
        var noisy = rounds.GroupBy(round => (round.Cell, round.Round)).Where(attempts => attempts.Count() == 1)
            .SelectMany(attempts => attempts).Where(round => round.Noise.IsNoisy()).ToList();
        planned += noisy.Count;
        if (noisy.Count > 0)
            display.Note($"Noisy rounds: {noisy.Count}; they are repeated.");

        foreach (var round in noisy)
        {
            var cell = cells.Single(cell => Provenance.NameOf(cell) == round.Cell);
            await WaitForWorkersAsync(workers, record, cancellationToken);
            await MeasureRoundAsync(record.Folder, settingsOf(cell), cell, round.Round, attempt: 2, cancellationToken);
        }
    }

    private async Task MeasureRoundAsync(
        RunFolder folder, RoundSettings settings, Cell cell, int round, int attempt, CancellationToken cancellationToken)
    {
        var name = Provenance.NameOf(cell).ToString();
        var progress = display.Round(
            name, round, $"{name}, round {round} of {plan.Sizes.Rounds}{(attempt > 1 ? ", again" : "")}", settings.Sizes.Messages);
        var document = await new Round(settings, cell, progress).RunAsync(round, attempt, cancellationToken);
        cancellationToken.ThrowIfCancellationRequested();
        // Not a round of the cell's: it is measured when the run goes on.
        if (!document.Outcome.IsValid() && (settings.Queues.HasEnded || settings.Widgets.HasEnded))
            throw new KitException(string.Join("; ", document.Outcome.Reasons), "See the server's log.");
        folder.Save(document);
        rounds.Add(document);
        display.Finished(RoundLine.Of(document), FinishedRound.Of(document), rounds.Count, planned);
    }

    private IReadOnlyList<Transport> Needed() => Transport.NeededBy(cells.Select(Transport.Of));
}
