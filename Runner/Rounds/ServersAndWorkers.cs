using Kit.Endpoints.Cells;
using Kit.Runner.Results;
using Kit.Runner.Rounds.Joining;
using Kit.Runner.Stage;
using Kit.Runner.Stage.Transports;

namespace Kit.Runner.Rounds;

/// <summary>The servers of a run, and the workers that join it there.</summary>
internal sealed class ServersAndWorkers(RunPlan plan, RunRecord record, IRunDisplay display) : IAsyncDisposable
{
    private readonly ServersInUse servers = new();
    private readonly Dictionary<DatabaseInUse, ClockSource> clocks = [];
    private readonly IReadOnlyList<WorkerFacts> earlierWorkers = plan.Resumed?.Stored.Document.Workers ?? [];
    private JoinedWorkers? workers;
    private DiskFacts? disk;

    private IReadOnlyList<Transport> Needed => Transport.NeededBy(record.Cells.Select(Transport.Of));

    private IEnumerable<DatabaseInUse> Databases => record.Cells.Select(servers.WidgetsOf).Distinct();

    /// <summary>Starts the servers, records what they say of themselves, and waits for the workers.</summary>
    /// <exception cref="KitException">A server does not start, is another one than that of a resumed run, or no worker comes.</exception>
    public async Task StartAsync(CancellationToken cancellationToken)
    {
        foreach (var transport in Needed.Where(transport => record.Cells.Any(transport.Serves)))
            await StartAsync(transport, cancellationToken);
        foreach (var (transport, server) in servers.All)
            await DescribeAsync(transport, server, cancellationToken);

        if (plan.Resumed is { } earlier)
            earlier.Require(earlier.Stored.Document with { Disk = servers.MeasureDisk() });
        record.GoOn();
        foreach (var database in Databases)
            clocks[database] = await database.ReadClockAsync(cancellationToken);

        if (plan.Workers is { } needs)
            workers = await OpenAsync(needs, cancellationToken);
        await WaitForWorkersAsync(cancellationToken);
    }

    /// <summary>Seeds the rows with which every round begins, and measures the disk.</summary>
    public async Task SeedAsync(CancellationToken cancellationToken)
    {
        foreach (var database in Databases)
        {
            var seeding = await database.SeedAsync(plan.Sizes.SeedRows, display.Seeding(plan.Sizes.SeedRows), cancellationToken);
            record.Save(run => run with { SeedingSeconds = (run.SeedingSeconds ?? 0) + seeding.TotalSeconds });
        }

        // A resumed run's rounds are all judged by the flush from before its first one.
        disk = plan.Resumed?.Stored.Document.Disk ?? servers.MeasureDisk();
        record.Save(run => run with { Disk = disk });
    }

    /// <summary>The settings of a cell's rounds.</summary>
    public RoundSettings SettingsOf(Cell cell) => new(
        plan.Sizes with
        {
            Concurrency = plan.ConcurrencyOf(cell),
            Messages = record.Document.AtLeast?.Cells.FirstOrDefault(tried => tried.Cell == Provenance.NameOf(cell))?.Messages ?? plan.Sizes.Messages,
        },
        // Without a row there is no commit that has a time.
        cell.Scenario.Rows == 0 ? ClockSource.HandlerCompletions : clocks[servers.WidgetsOf(cell)],
        servers.Of(cell), servers.WidgetsOf(cell), disk, servers.Processes)
    {
        Workers = workers,
    };

    /// <summary>Goes on when all workers are there. One can be a new one: its machine is recorded, too.</summary>
    public async Task WaitForWorkersAsync(CancellationToken cancellationToken)
    {
        if (workers is null)
            return;

        await workers.WaitAsync(cancellationToken);
        IReadOnlyList<WorkerFacts> all = [.. earlierWorkers, .. workers.Facts];
        if (all.Count != record.Document.Workers?.Count)
            record.Save(run => run with { Workers = all });
    }

    /// <summary>Tells the workers, when this is disposed, that the run is complete.</summary>
    public void EndWorkers() => workers?.Ending = JoinedWorkers.Completed;

    /// <inheritdoc cref="ServersInUse.ThrowIfEnded"/>
    public void ThrowIfEnded(string goOn, string failure) => servers.ThrowIfEnded(goOn, failure);

    public async ValueTask DisposeAsync()
    {
        if (workers is not null)
            await workers.DisposeAsync();
        await servers.DisposeAsync();
    }

    /// <summary>Starts a server. If the kit's own does not start, its cells are left out and the others go on.</summary>
    private async Task StartAsync(Transport transport, CancellationToken cancellationToken)
    {
        var isNamed = transport.IsNamed(plan.Arguments);
        if (!isNamed && transport.Own is { } what)
            display.Note($"Starting {what} of the kit's own.");
        try
        {
            await servers.StartAsync(transport, plan.Arguments.WithConnections(plan.Connections), cancellationToken);
        }
        catch (KitException failure) when (!isNamed && plan.Resumed is null && record.Cells.Any(cell => !transport.Serves(cell)))
        {
            foreach (var cell in record.Cells.Where(transport.Serves).ToList())
                record.Refuse(cell, failure.Message);
        }
    }

    /// <summary>Tells what a user should know of a server, and records its facts.</summary>
    /// <exception cref="KitException">A resumed run had another server.</exception>
    private async Task DescribeAsync(Transport transport, ServerInUse server, CancellationToken cancellationToken)
    {
        foreach (var warning in server.Warnings)
            display.Note(warning);
        foreach (var leftover in await server.RemoveLeftoversAsync(cancellationToken))
            display.Note($"{leftover}");
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

    /// <summary>Lets workers find the run, on the server that has the widgets of all its cells.</summary>
    private async Task<JoinedWorkers> OpenAsync(WorkerNeeds needs, CancellationToken cancellationToken)
    {
        var build = await JoiningBuild.OfThisAsync(cancellationToken);
        var offer = new RunOffer(build, Environment.MachineName, plan.CommandLine, [.. Needed.Select(transport => transport.Name)]);
        return await JoinedWorkers.OpenAsync(offer, needs, Databases.Single().ConnectionString, display.Note, cancellationToken);
    }
}
