using Kit.Endpoints.Cells;
using Kit.Modes;
using Kit.Runner.Results;
using Kit.Runner.Servers;
#if KIT_SQLCLIENT
using Kit.Runner.SqlServer;
#endif

namespace Kit.Runner.Rounds;

/// <summary>All rounds of one command: a server, a seeded template, the rounds in their shuffled order, the reports.</summary>
internal sealed class Run(RunPlan plan, IRunDisplay display)
{
    private readonly List<RoundDocument> rounds = [];
    private readonly List<Cell> cells = [.. plan.Runnable];
    private int planned;

    /// <summary>How many rounds have ended and are saved.</summary>
    public int Finished => rounds.Count;

    /// <summary>How many cells were not measured though they should have been: their probe disagreed with their label, or their server did not start.</summary>
    public int Refused => plan.Runnable.Count - cells.Count;

    /// <summary>Runs it. Finished rounds are saved at once and survive whatever comes after them.</summary>
    /// <exception cref="KitException">The run cannot start, or its results cannot be saved.</exception>
    /// <exception cref="OperationCanceledException">It was stopped; the reports over what was finished are written.</exception>
    public async Task<RecordedRun> RunAsync(CancellationToken cancellationToken)
    {
        // What cannot start leaves no folder behind that the next attempt would have to avoid.
        if (cells.Count == 0)
            throw new KitException(WhyNothingRuns(), "See 'list' for every cell, and 'doctor' for this machine.");
        if (plan.PostgreSql is not null && NeedsPostgreSql())
            await PostgreSqlFacts.RequireAsync(plan.PostgreSql, NeedsTwoPhase(), cancellationToken);
        if (plan.RabbitMq is not null && NeedsBroker())
            await RabbitMqFacts.RequireAsync(plan.RabbitMq, cancellationToken);
#if KIT_SQLCLIENT
        if (NeedsSqlServer())
            await SqlServerFacts.RequireAsync(plan.SqlServer!, cancellationToken);
#endif

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
        await using var own = plan.PostgreSql is null && NeedsPostgreSql() ? await StartServerAsync(cancellationToken) : null;
        await using var broker = NeedsBroker() ? await OpenBrokerAsync(record, cancellationToken) : null;
        if (broker is not null)
            record.Save(run => run with { Broker = Provenance.OfBroker(broker, plan.QueueType) });
        foreach (var warning in broker?.Warnings ?? [])
            display.Note(warning);

        await using var postgreSql = NeedsPostgreSql() ? await OpenPostgreSqlAsync(record, own, broker, cancellationToken) : null;
#if KIT_SQLCLIENT
        await using var sqlServer = NeedsSqlServer() ? await OpenSqlServerAsync(record, cancellationToken) : null;
#endif
        await ProbeAsync(record, Home, cancellationToken);
        if (cells.Count == 0)
            return;

        foreach (var home in cells.Select(Home).Distinct())
        {
            var seeding = await home.Store.SeedAsync(plan.Sizes.SeedRows, display.Seeding(plan.Sizes.SeedRows), cancellationToken);
            record.Save(run => run with { SeedingSeconds = (run.SeedingSeconds ?? 0) + seeding.TotalSeconds });
        }

        planned = cells.Count * plan.Sizes.Rounds;
        foreach (var (cell, round) in plan.Order(cells))
            await MeasureAsync(record.Folder, Home(cell), cell, round, attempt: 1, cancellationToken);

        if (plan.RepeatNoisy)
            await RepeatNoisyAsync(record.Folder, Home, cancellationToken);

#if KIT_SQLCLIENT
        WidgetHome Home(Cell cell) => IsOnSqlServer(cell) ? sqlServer! : postgreSql!;
#else
        WidgetHome Home(Cell cell) => postgreSql!;
#endif
    }

    private async Task<WidgetHome> OpenPostgreSqlAsync(Record record, PrivatePostgreSql? own, RunBroker? broker, CancellationToken cancellationToken)
    {
        var server = own?.ConnectionString ?? plan.PostgreSql!;
        var facts = await PostgreSqlFacts.RequireAsync(server, NeedsTwoPhase(), cancellationToken);
        NoteRemoved(await DatabaseOwner.RemoveLeftoversAsync(server, cancellationToken));
        var found = await Provenance.OfServerAsync(server, own is not null, cancellationToken);
        record.Save(run => run with { Server = found });
        var clock = facts.TracksCommitTimestamps ? ClockSource.CommitTimestamps : ClockSource.HandlerCompletions;
        return new WidgetHome(new KitDatabases(server), new RoundSettings(plan.Sizes, clock, own?.PostmasterPid, broker, plan.QueueType));
    }

#if KIT_SQLCLIENT
    private async Task<WidgetHome> OpenSqlServerAsync(Record record, CancellationToken cancellationToken)
    {
        var facts = await SqlServerFacts.RequireAsync(plan.SqlServer!, cancellationToken);
        NoteRemoved(await SqlServerOwner.RemoveLeftoversAsync(plan.SqlServer!, cancellationToken));
        record.Save(run => run with { SqlServer = Provenance.OfSqlServer(facts.Version, facts.Edition) });
        return new WidgetHome(new SqlServerDatabases(plan.SqlServer!), new RoundSettings(plan.Sizes, ClockSource.HandlerCompletions, Postmaster: null));
    }
#endif

    private void NoteRemoved(IEnumerable<string> leftovers)
    {
        foreach (var leftover in leftovers)
            display.Note($"Removed {leftover}, left by a run that crashed.");
    }

    /// <summary>Opens the broker. Where the kit's own does not start, its cells are left out and the others go on.</summary>
    private async Task<RunBroker?> OpenBrokerAsync(Record record, CancellationToken cancellationToken)
    {
        if (plan.RabbitMq is null)
            display.Note("Starting a RabbitMQ broker of the kit's own.");
        try
        {
            return await RunBroker.OpenAsync(plan.RabbitMq, cancellationToken);
        }
        catch (KitException failure) when (plan.RabbitMq is null && cells.Exists(cell => cell.Kind.Transport != TransportName.RabbitMq))
        {
            foreach (var cell in cells.Where(cell => cell.Kind.Transport == TransportName.RabbitMq).ToList())
                Refuse(record, cell, failure.Message);

            return null;
        }
    }

    /// <summary>Has every cell handle a few messages first. One that does not do what its label says is not measured.</summary>
    private async Task ProbeAsync(Record record, Func<Cell, WidgetHome> homeOf, CancellationToken cancellationToken)
    {
        display.Note($"Probing what {cells.Count} cells really do, before anything is measured.");
        foreach (var cell in cells.ToList())
        {
            var (databases, settings) = homeOf(cell);
            await using var scratch = await databases.CreateEmptyAsync(cancellationToken);
            await using var transport = await RoundTransport.OpenAsync(cell, "probe", scratch, settings, cancellationToken);
            try
            {
                var probe = await CellProbe.RunAsync(
                    cell,
                    new EndpointSettings(
                        transport.Queue, transport.ForEndpoint, scratch.WidgetsForEndpoint, cell.Mode, plan.Sizes.Concurrency),
                    cancellationToken);
                record.Save(run => run with { Probes = [.. run.Probes, Provenance.OfProbe(cell, probe)] });
                if (probe.Support.Because is { } reason)
                    Refuse(record, cell, $"its probe disagrees with its label: {reason}");
            }
            catch (Exception failure) when (!cancellationToken.IsCancellationRequested)
            {
                Refuse(record, cell, $"it could not be probed: {failure.Message}");
            }
        }
    }

    private void Refuse(Record record, Cell cell, string because)
    {
        var name = Provenance.NameOf(cell);
        cells.Remove(cell);
        record.Save(run => run with { Cells = [.. run.Cells.Where(other => other != name)], LeftOut = [.. run.LeftOut, new CellLeftOut(name, because)] });
        display.Note($"{name} is not measured: {because}.");
    }

    private async Task RepeatNoisyAsync(RunFolder folder, Func<Cell, WidgetHome> homeOf, CancellationToken cancellationToken)
    {
        var noisy = rounds.Where(round => round.Noise.IsNoisy()).ToList();
        planned += noisy.Count;
        if (noisy.Count > 0)
            display.Note($"Other processes took more than {Noise.DefaultLimit:P0} of the machine in {noisy.Count} rounds; they are run once more.");

        foreach (var round in noisy)
        {
            var cell = cells.Single(cell => Provenance.NameOf(cell) == round.Cell);
            await MeasureAsync(folder, homeOf(cell), cell, round.Round, attempt: 2, cancellationToken);
        }
    }

    private async Task MeasureAsync(
        RunFolder folder, WidgetHome home, Cell cell, int round, int attempt, CancellationToken cancellationToken)
    {
        var progress = display.Round($"{Provenance.NameOf(cell)}, round {round} of {plan.Sizes.Rounds}{(attempt > 1 ? ", again" : "")}", plan.Sizes.Messages);
        var document = await new Round(home.Settings, home.Store, cell, progress).RunAsync(round, attempt, cancellationToken);
        cancellationToken.ThrowIfCancellationRequested();
        folder.Save(document);
        rounds.Add(document);
        display.Finished(RoundLine.Of(document), rounds.Count, planned);
    }

    private async Task<PrivatePostgreSql> StartServerAsync(CancellationToken cancellationToken)
    {
        display.Note("Starting a PostgreSQL server of the kit's own.");
        return await PrivatePostgreSql.StartAsync(cancellationToken);
    }

    private string WhyNothingRuns() => plan.Cells.Count == 0
        ? "There is no such cell: no framework, transport, mode and access library that were named go together."
        : $"None of the cells can run: {plan.SupportOf(plan.Cells[0]).Because}.";

    private bool NeedsBroker() => cells.Exists(cell => cell.Kind.Transport == TransportName.RabbitMq);

    private bool NeedsPostgreSql() => cells.Exists(cell => !IsOnSqlServer(cell));

#if KIT_SQLCLIENT
    private bool NeedsSqlServer() => cells.Exists(IsOnSqlServer);
#endif

    private static bool IsOnSqlServer(Cell cell) => cell.Kind.Transport == TransportName.SqlServer;

    private bool NeedsTwoPhase() => cells.Exists(cell => !IsOnSqlServer(cell) && cell.Mode.RowCommit is RowCommit.InTwoPhases);

    /// <summary>A server that holds widgets, and what the rounds there share.</summary>
    private sealed record WidgetHome(IWidgetStore Store, RoundSettings Settings) : IAsyncDisposable
    {
        public ValueTask DisposeAsync() => Store.DisposeAsync();
    }

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
