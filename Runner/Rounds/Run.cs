using Kit.Endpoints.Cells;
using Kit.Runner.Joining;
using Kit.Runner.Results;
using Kit.Runner.Stage;
using Kit.Runner.Transports;

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
        var lacking = await FindLacksAsync(cancellationToken);
        var document = await plan.DescribeAsync(cancellationToken);
        if (plan.Resumed is { } earlier)
        {
            earlier.Require(document);
            earlier.Require(cells.Select(cell => (cell, lacking.GetValueOrDefault(cell)?.Because)));
        }

        var record = plan.Resumed is { } resumed ? Record.Resume(resumed, plan.CommandLine) : Record.Begin(plan.Folder, document);
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

    /// <summary>The cells whose named server lacks something that they need.</summary>
    /// <exception cref="KitException">A server is out of reach, or all of the cells lack something.</exception>
    private async Task<IReadOnlyDictionary<Cell, Lack>> FindLacksAsync(CancellationToken cancellationToken)
    {
        var lacking = new Dictionary<Cell, Lack>();
        foreach (var transport in Needed().Where(transport => transport.IsNamed(plan.Arguments)))
        {
            foreach (var lack in await transport.CheckAsync(plan.Arguments, cancellationToken))
            {
                foreach (var cell in cells.Where(cell => transport.Serves(cell) && lack.Concerns(cell)))
                    lacking.TryAdd(cell, lack);
            }

            if (await transport.ReadDatabaseAsync(plan.Arguments, cancellationToken) is { } server)
            {
                if (plan.Workers is not null)
                    WorkerNeeds.RequireClock(server);
                foreach (var cell in cells.Where(cell => Transport.Of(cell).Widgets == transport))
                {
                    if (plan.ConnectionsOf(cell)?.LackOn(server) is { } lack)
                        lacking.TryAdd(cell, lack);
                }
            }

            if (lacking.Count == cells.Count)
                throw new KitException(lacking[cells[0]].Problem, lacking[cells[0]].Remedy);
        }

        return lacking;
    }

    private async Task MeasureOnServersAsync(Record record, CancellationToken cancellationToken)
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

    private async Task MeasureAllAsync(ServersInUse servers, Record record, CancellationToken cancellationToken)
    {
        foreach (var transport in Needed().Where(transport => cells.Exists(transport.Serves)))
            await StartAsync(servers, transport, record, cancellationToken);
        foreach (var (transport, server) in servers.All)
            await DescribeAsync(transport, server, record, cancellationToken);

        if (plan.Resumed is { } earlier)
            earlier.Require(earlier.Stored.Document with { Disk = servers.MeasureDisk() });
        record.GoOn();
        DiskFacts? disk = null;
        var clocks = new Dictionary<DatabaseInUse, ClockSource>();
        foreach (var database in cells.Select(servers.WidgetsOf).Distinct())
            clocks[database] = await database.ReadClockAsync(cancellationToken);

        await using var workers = plan.Workers is null ? null : await OpenAsync(plan.Workers, servers, cancellationToken);
        await WaitForWorkersAsync(workers, record, cancellationToken);
        await ProbeAsync(record, SettingsOf, cancellationToken);
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
    private async Task WaitForWorkersAsync(JoinedWorkers? workers, Record record, CancellationToken cancellationToken)
    {
        if (workers is null)
            return;

        await workers.WaitAsync(cancellationToken);
        IReadOnlyList<WorkerFacts> all = [.. earlierWorkers, .. workers.Facts];
        if (all.Count != record.Document.Workers?.Count)
            record.Save(run => run with { Workers = all });
    }

    /// <summary>Drains each cell once, unmeasured, to find out how many messages it needs for a round that is long enough.</summary>
    private async Task TryLengthsAsync(Record record, Func<Cell, RoundSettings> settingsOf, JoinedWorkers? workers, CancellationToken cancellationToken)
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
    private bool IsPreciseAfter(Record record, int round) => plan.Precision is { } precision
        && precision.IsReached(round, new RecordedRun(record.Document, [.. rounds.Where(each => each.Round <= round)]).WidestInterval);

    /// <summary>Starts a server. If the kit's own does not start, its cells are left out and the others go on.</summary>
    private async Task StartAsync(ServersInUse servers, Transport transport, Record record, CancellationToken cancellationToken)
    {
        var isNamed = transport.IsNamed(plan.Arguments);
        if (!isNamed && transport.Own is { } what)
            display.Note($"Starting {what} of the kit's own.");
        try
        {
            await servers.StartAsync(transport, plan.Arguments.WithConnections(plan.Connections), cancellationToken);
        }
        catch (KitException failure) when (!isNamed && plan.Resumed is null && cells.Exists(cell => !transport.Serves(cell)))
        {
            foreach (var cell in cells.Where(transport.Serves).ToList())
                Refuse(record, cell, failure.Message);
        }
    }

    private async Task DescribeAsync(Transport transport, ServerInUse server, Record record, CancellationToken cancellationToken)
    {
        foreach (var warning in server.Warnings)
            display.Note(warning);
        foreach (var leftover in await server.RemoveLeftoversAsync(cancellationToken))
            display.Note($"Removed {leftover}, left by a crashed run.");
        if (await server.ReadFactsAsync(cancellationToken) is { } facts)
        {
            record.Save(run =>
            {
                var described = transport.Describe(run, facts);
                plan.Resumed?.Require(described);
                return described;
            });
        }
    }

    /// <summary>Lets every cell handle a few messages first. A cell that does not do what its label says is not measured.</summary>
    private async Task ProbeAsync(Record record, Func<Cell, RoundSettings> settingsOf, CancellationToken cancellationToken)
    {
        // Scenarios and conditions do not change what commits with what, and the probe has a handler of its own.
        var probed = cells.ToLookup(cell => cell.Plain);
        display.Note($"Probing what cells really do, before they are measured: {probed.Count}.");
        foreach (var cell in probed.Select(same => same.Key))
        {
            var settings = settingsOf(cell);
            await using var stage = await ForAsync(
                cell, CellStage.OpenAsync(cell, settings.Queues, settings.Widgets, new StageOptions(StageRows.None), cancellationToken));
            string? because;
            try
            {
                var probe = await CellProbe.RunAsync(
                    cell,
                    cell.EndpointOn(stage.Place.Queue, stage.Place.ForEndpoint, stage.Databases.WidgetsForEndpoint, settings.Sizes.Concurrency),
                    cancellationToken);
                var found = Provenance.OfProbe(cell, probe);
                record.Save(run => run with { Probes = [.. run.Probes.Where(other => other.Cell != found.Cell), found] });
                because = probe.Support.Because is { } reason ? $"its probe disagrees with its label: {reason}" : null;
            }
            catch (Exception failure) when (!cancellationToken.IsCancellationRequested)
            {
                because = $"it could not be probed: {KitException.MessageOf(failure)}";
            }

            if (because is null)
                continue;

            // A cell cannot be measured and left out.
            if (probed[cell].FirstOrDefault(same => rounds.Exists(round => round.Cell == Provenance.NameOf(same))) is { } measured)
            {
                throw new KitException(
                    $"{Provenance.NameOf(measured)} has rounds from before the run was stopped, and {because}",
                    "Resume the run again. If it happens again, find out what has changed, or make a new run.");
            }

            foreach (var same in probed[cell])
                Refuse(record, same, because);
        }
    }

    /// <summary>Names the cell in what a server refuses: the run ends with it, and can be resumed.</summary>
    private static async Task<T> ForAsync<T>(Cell cell, Task<T> step)
    {
        try
        {
            return await step;
        }
        catch (KitException refused)
        {
            throw new KitException($"{Provenance.NameOf(cell)}: {refused.Message}", refused.Remedy, refused);
        }
    }

    private void Refuse(Record record, Cell cell, string because)
    {
        var name = Provenance.NameOf(cell);
        cells.Remove(cell);
        record.Save(run => run with { Cells = [.. run.Cells.Where(other => other != name)], LeftOut = [.. run.LeftOut, new CellLeftOut(name, because)] });
        display.Note($"{name} is not measured: {because}.");
    }

    private async Task RepeatNoisyAsync(Record record, Func<Cell, RoundSettings> settingsOf, JoinedWorkers? workers, CancellationToken cancellationToken)
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

    /// <summary>The run's document, saved in its folder after each change.</summary>
    private sealed class Record
    {
        private RunDocument document;

        private Record(RunFolder folder, RunDocument document, bool hasBegun) => (Folder, this.document, HasBegun) = (folder, document, hasBegun);

        public RunFolder Folder { get; }

        public RunDocument Document => document;

        /// <summary>Whether the run goes on, so that its end must be saved. A resumed one goes on once its servers are known to be the same.</summary>
        public bool HasBegun { get; private set; }

        public static Record Begin(string path, RunDocument document) => new(RunFolder.Create(path, document), document, hasBegun: true);

        public static Record Resume(ResumedRun run, string commandLine)
        {
            var stored = run.Stored.Document;
            return new Record(
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
}
