using Kit.Endpoints.Cells;
using Kit.Modes;
using Kit.Runner.Options;
using Kit.Runner.Results;
using Kit.Runner.Rounds.Joining;
using Kit.Runner.Servers;
using Kit.Runner.Stage;
using Kit.Runner.Stage.Databases;
using Kit.Runner.Stage.Transports;

namespace Kit.Runner.Rounds;

/// <summary>The plan of a run, according to its command line.</summary>
/// <param name="Cells">Chosen cells, runnable or not.</param>
/// <param name="Sizes">Rows, messages and rounds.</param>
/// <param name="Arguments">The servers and their use; in the place of those not named, the kit starts its own.</param>
/// <param name="RepeatNoisy">True to repeat noisy rounds at the end.</param>
/// <param name="CommandLine">As typed, secrets masked.</param>
/// <exception cref="KitException">A server's connection string cannot be read.</exception>
internal sealed record RunPlan(
    IReadOnlyList<Cell> Cells, RunSettings Sizes, TransportArguments Arguments, bool RepeatNoisy, string Folder, string CommandLine)
{
    /// <summary>True if another process chooses the next round (<see cref="Turns"/>).</summary>
    public bool InTurns { get; init; }

    /// <summary>The width that the ratios' intervals are to reach; <see langword="null"/>: the number of rounds is given.</summary>
    public Precision? Precision { get; init; }

    /// <summary>The least length of rounds, with the figures that it needs; <see langword="null"/>: the number of messages is given.</summary>
    public RoundLength? AtLeast { get; init; }

    /// <summary>The workers of other machines that run the handlers; <see langword="null"/>: this machine runs them.</summary>
    public WorkerNeeds? Workers { get; init; }

    /// <summary>The run that it resumes; <see langword="null"/>: a new one.</summary>
    public ResumedRun? Resumed { get; init; }

    /// <summary>Each transport with the support for its cells here, as far as that depends on its server.</summary>
    public IReadOnlyDictionary<Transport, Support> Here { get; init; } = Transport.FindSupport(Arguments);

    public IReadOnlyList<Cell> Runnable => [.. Cells.Where(cell => SupportOf(cell).IsSupported)];

    /// <summary>Support for a cell here, or the first reason why it cannot run.</summary>
    /// <exception cref="UnknownTransportException">Its transport has no descriptor.</exception>
    public Support SupportOf(Cell cell) =>
        cell.Support is { IsSupported: false } never ? never
        : Here[Transport.Of(cell)] is { IsSupported: false } notHere ? notHere
        : Workers is not null && WorkerNeeds.SupportOf(cell) is { IsSupported: false } onlyHere ? onlyHere
        : cell.Limits.SupportOf(cell.Kind, cell.Mode, ConcurrencyOf(cell)) is { IsSupported: false } withFewer ? withFewer
        : ConnectionsOf(cell) is { } needs && !Transport.Of(cell).Widgets.IsNamed(Arguments) ? needs.SupportOnOwn
        : Support.Yes;

    /// <summary>Messages that each process of a cell handles at the same time.</summary>
    public int ConcurrencyOf(Cell cell) => cell.Limits.Handlers ?? Sizes.Concurrency;

    /// <summary>The connections of a cell to the PostgreSQL server; <see langword="null"/>: it has none.</summary>
    public ConnectionNeeds? ConnectionsOf(Cell cell) =>
        ConnectionNeeds.Of(cell, ConcurrencyOf(cell)) is { } needs ? needs with { OfWorkers = Workers?.ConnectionsFor(cell.Processes.Count) ?? 0 } : null;

    /// <summary>Connections that the kit's own PostgreSQL server has to accept. The server of a resumed run accepts as many as before.</summary>
    public int Connections => Resumed?.MaxConnections
        ?? Runnable.Select(cell => ConnectionsOf(cell)?.Total ?? 0).Append(ClusterSettings.Connections).Max();

    /// <summary>Refuses what cannot begin.</summary>
    /// <exception cref="KitException">The cells and the sizes contradict each other, no cell can run here, or a resumed run lacks one of its cells.</exception>
    public void Require()
    {
        if (Resumed is null)
        {
            if (FindContradiction() is { } found)
                throw new KitException(found.Problem, found.Remedy) { IsUsage = true };
            ChosenCells.RequireRows(Cells, Sizes.SeedRows);
        }

        if (Workers is not null)
            WorkerNeeds.RequireNamed(Cells, Arguments);
        if (Resumed is null)
            ChosenCells.Require(Cells, Runnable, SupportOf);
        else
            Resumed.Require(Cells.Select(cell => (cell, SupportOf(cell).Because)));
    }

    /// <summary>The rounds one after the other, in random order or as another process requests them.</summary>
    public IAsyncEnumerable<(Cell Cell, int Round)> Rounds(IReadOnlyCollection<Cell> cells, CancellationToken cancellationToken) =>
        InTurns
            ? Turns.ReadAsync(Console.In, Console.Out, cells, cancellationToken)
            : Order(cells).ToAsyncEnumerable();

    /// <summary>A document with the facts that are known before the run begins.</summary>
    public async Task<RunDocument> DescribeAsync(CancellationToken cancellationToken) => new()
    {
        CommandLine = CommandLine,
        StartedUtc = DateTimeOffset.UtcNow,
        EndedUtc = null,
        Ending = RunEnding.Running,
        Commit = await WorkTree.CommitAsync(cancellationToken),
        Fingerprint = Build.OfThis().Fingerprint,
        RepeatsNoisy = RepeatNoisy,
        Precision = Precision,
        AtLeast = AtLeast,
        WorkersNeeded = Workers?.Needed,
        Host = Provenance.OfHost(Cells.Any(cell => cell.Condition.IsTiered)),
        Packages = Provenance.Packages(),
        Server = new Dictionary<string, string>(),
        Settings = Sizes,
        Isolation = string.Join(", ", Cells.Select(cell => cell.Mode.Isolation).Distinct()),
        ImmediateRetries = Cells.Select(cell => cell.Mode).Distinct().ToDictionary(mode => mode.Name, mode => mode.ImmediateRetries),
        PoolSizes = new Dictionary<string, int> { ["queue"] = EndpointConnections.PoolSize, ["widgets"] = EndpointConnections.PoolSize },
        SeedingSeconds = null,
        Implied = Provenance.ImpliedAt(Sizes.Concurrency),
        Cells = [.. Runnable.Select(Provenance.NameOf)],
        LeftOut = [.. Provenance.LeftOut(Cells, SupportOf)],
    };

    /// <summary>The number of the attempt that a round needs; <see langword="null"/> if it was measured before the run was resumed.</summary>
    public int? AttemptAt(Cell cell, int round) => Resumed is null ? 1 : Resumed.NextAttempt(Provenance.NameOf(cell), round);

    /// <summary>Every round of the run: round <i>r</i> has every cell once, in an order drawn from the order seed.</summary>
    public IEnumerable<(Cell Cell, int Round)> Order(IReadOnlyCollection<Cell> cells)
    {
        var random = new Random(Sizes.OrderSeed);
        for (var round = 1; round <= Sizes.Rounds; round++)
        {
            var shuffled = cells.ToArray();
            random.Shuffle(shuffled);
            foreach (var cell in shuffled)
                yield return (cell, round);
        }
    }

    /// <summary>The cells whose named server lacks something that they need.</summary>
    /// <exception cref="KitException">A server is out of reach, or all of the cells lack something.</exception>
    public async Task<IReadOnlyDictionary<Cell, Lack>> FindLacksAsync(CancellationToken cancellationToken)
    {
        var lacking = new Dictionary<Cell, Lack>();
        foreach (var transport in Transport.NeededBy(Runnable.Select(Transport.Of)).Where(transport => transport.IsNamed(Arguments)))
        {
            foreach (var lack in await transport.CheckAsync(Arguments, cancellationToken))
            {
                foreach (var cell in Runnable.Where(cell => transport.Serves(cell) && lack.Concerns(cell)))
                    lacking.TryAdd(cell, lack);
            }

            if (await transport.ReadDatabaseAsync(Arguments, cancellationToken) is { } server)
            {
                if (Workers is not null)
                    WorkerNeeds.RequireClock(server);
                foreach (var cell in Runnable.Where(transport.Serves))
                {
                    if (ConnectionsOf(cell)?.LackOn(server) is { } lack)
                        lacking.TryAdd(cell, lack);
                }
            }

            if (lacking.Count == Runnable.Count)
                throw new KitException(lacking[Runnable[0]].Problem, lacking[Runnable[0]].Remedy);
        }

        return lacking;
    }

    private (string Problem, string Remedy)? FindContradiction() =>
        Cells.FirstOrDefault(cell => cell.Condition.IsOneSlow && (ConcurrencyOf(cell) < 2 || Sizes.Messages < 2)) is { } slow
            ? ($"The condition '{slow.Condition.Name}' keeps one worker busy with one message; it needs another worker and another message.",
                "Give --concurrency and --messages 2 or more, or leave the condition out.")
        : Precision is not null && Cells.Count < 2
            ? ("--precision is about ratios between cells, and there is one cell.", "Name a second mode or framework, or give --rounds; see run --help.")
        : Sizes.SeedRows == 0 && Cells.FirstOrDefault(cell => cell.Condition.IsEmpty) is { } empty
            ? ($"The condition '{empty.Condition.Name}' removes the seeded rows, and --seed-rows 0 seeds none.",
                "Give --seed-rows 1 or more, or leave the condition out.")
        : Workers is { Needed: var needed } && Cells.Count > 0 && Cells.Max(cell => cell.Processes.Count) is var most && most < needed
            ? ($"--workers: no cell has a process for each of {needed} workers; the most is {most}.",
                $"Give --processes 1,{ProcessCount.All.Select(count => count.Count).First(count => count >= needed)}, or fewer workers.")
        : null;
}
