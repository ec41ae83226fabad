namespace Kit.Runner.Results;

/// <summary>The facts about a run as a whole: <c>run.json</c>. Written when the run begins and again when it ends.</summary>
public sealed record RunDocument
{
    public int Schema { get; init; } = ResultJson.Schema;

    /// <summary>The command as typed, with secrets masked by the caller.</summary>
    public required string CommandLine { get; init; }

    public required DateTimeOffset StartedUtc { get; init; }

    /// <summary>The end of the run; <see langword="null"/> while it goes on.</summary>
    public required DateTimeOffset? EndedUtc { get; init; }

    public required RunEnding Ending { get; init; }

    /// <summary>The commit of the kit; <see langword="null"/> if it was not built from a git work tree.</summary>
    public required GitCommit? Commit { get; init; }

    /// <summary>The build that ran the rounds on request of another; absent if the runner ran its own.</summary>
    public BuildFacts? Build { get; init; }

    /// <summary>The fingerprint of the kit's own assemblies: a run is resumed only by the build that began it. Absent in runs of earlier versions.</summary>
    public string? Fingerprint { get; init; }

    /// <summary>True if noisy rounds are repeated at the end. Absent in runs of earlier versions.</summary>
    public bool? RepeatsNoisy { get; init; }

    /// <summary>The requested precision; absent if the number of rounds was given.</summary>
    public Precision? Precision { get; init; }

    /// <summary>The requested least length of its rounds; absent if none was requested.</summary>
    public RoundLength? AtLeast { get; init; }

    /// <summary>The resumptions, the earliest first; absent if there were none.</summary>
    public IReadOnlyList<Resumption>? Resumed { get; init; }

    /// <summary>The machine of the runner.</summary>
    public required HostFacts Host { get; init; }

    /// <summary>Workers of other machines that ran the handlers; absent if the runner's machine did.</summary>
    public int? WorkersNeeded { get; init; }

    /// <summary>Every worker that joined; more than were needed if one was replaced. Absent without workers.</summary>
    public IReadOnlyList<WorkerFacts>? Workers { get; init; }

    /// <summary>Version by package name.</summary>
    public required IReadOnlyDictionary<string, string> Packages { get; init; }

    /// <summary>Facts that the PostgreSQL server reports about itself: version and every setting that affects durability.</summary>
    public required IReadOnlyDictionary<string, string> Server { get; init; }

    /// <summary>Facts about the RabbitMQ broker, with the use of its queues; empty if no cell needed one.</summary>
    public IReadOnlyDictionary<string, string> Broker { get; init; } = new Dictionary<string, string>();

    /// <summary>Facts about the SQL Server; absent if no cell needed one.</summary>
    public IReadOnlyDictionary<string, string>? SqlServer { get; init; }

    /// <summary>Facts about every other server, by name; absent if no cell needed one.</summary>
    public IReadOnlyDictionary<string, IReadOnlyDictionary<string, string>>? Servers { get; init; }

    /// <summary>The disk of the kit's own servers; absent if none was started.</summary>
    public DiskFacts? Disk { get; init; }

    public required RunSettings Settings { get; init; }

    /// <summary>The isolation level of every transaction.</summary>
    public required string Isolation { get; init; }

    /// <summary>Immediate retries by mode.</summary>
    public required IReadOnlyDictionary<string, int> ImmediateRetries { get; init; }

    /// <summary>The largest number of connections in each pool.</summary>
    public required IReadOnlyDictionary<string, int> PoolSizes { get; init; }

    /// <summary>Time to fill the template database; <see langword="null"/> before that.</summary>
    public required double? SeedingSeconds { get; init; }

    /// <summary>The values that names of cells leave out, by axis; absent if they leave nothing out.</summary>
    public IReadOnlyDictionary<string, string>? Implied { get; init; }

    /// <summary>The cells that the run was to measure, in the matrix's order.</summary>
    public required IReadOnlyList<CellName> Cells { get; init; }

    public required IReadOnlyList<CellLeftOut> LeftOut { get; init; }

    /// <summary>The behaviour of each cell with a few messages before anything was measured.</summary>
    public IReadOnlyList<CellProbed> Probes { get; init; } = [];
}

/// <summary>A resumption of a run.</summary>
/// <param name="CommandLine">As typed, secrets masked.</param>
public sealed record Resumption(DateTimeOffset AtUtc, string CommandLine);

/// <summary>The commit that the kit was built from.</summary>
/// <param name="Id">Its hash.</param>
/// <param name="Dirty">True if the work tree had uncommitted changes.</param>
public sealed record GitCommit(string Id, bool Dirty)
{
    private const int ShortLength = 7;

    /// <summary>The id as people write it: the first seven digits.</summary>
    public string ShortId => Id[..Math.Min(ShortLength, Id.Length)];

    /// <summary>The short id, with a mark if there were changes.</summary>
    public string Name => ShortId + Changes;

    /// <summary>The addition to an id or a version for a reader: empty if there were no changes.</summary>
    public string Changes => Dirty ? " with changes" : "";

    /// <summary>True if both are one build: neither had changes.</summary>
    public bool IsSameBuildAs(GitCommit? other) => !Dirty && other is { Dirty: false } && Id == other.Id;

    /// <summary>
    /// True if two documents were made by one build: by their fingerprints, in which changes and optional packages are, or, where one has none, by their
    /// commits.
    /// </summary>
    public static bool AreOneBuild(GitCommit? one, string? fingerprint, GitCommit? other, string? otherFingerprint) =>
        fingerprint is not null && otherFingerprint is not null ? fingerprint == otherFingerprint : one?.IsSameBuildAs(other) == true;

    /// <summary>The whole id, with a mark if there were changes.</summary>
    public override string ToString() => Id + Changes;
}

/// <summary>A built runner that was compared.</summary>
/// <param name="Version">With the commit that it was built from.</param>
/// <param name="Fingerprint">Of the kit's own assemblies: equal fingerprints mean the same build.</param>
public sealed record BuildFacts(string Folder, string Version, string Fingerprint);

/// <summary>The behaviour of a cell with single messages before it was measured.</summary>
/// <param name="AmbientTransaction">Isolation level of the handler's ambient transaction; <see langword="null"/> without one.</param>
/// <param name="Isolation">Isolation level of the handler's connection, as the database names it.</param>
/// <param name="RowCommits">The moment at which other sessions saw the handler's row.</param>
/// <param name="MessageLeaves">The moment at which the message no longer belonged to the queue.</param>
/// <param name="BodyBytes">A message's body as the transport stores it.</param>
public sealed record CellProbed(
    CellName Cell, string? AmbientTransaction, string? Isolation, string RowCommits, string MessageLeaves, int MostTogether, int? BodyBytes);

/// <summary>The machine of a run.</summary>
/// <param name="CpuModel">As the system names it.</param>
public sealed record HostFacts(int Cores, string CpuModel, long MemoryBytes, string OperatingSystem, string Runtime);

/// <summary>The requested sizes of a run.</summary>
public sealed record RunSettings(int Messages, int Rounds, int Concurrency, int SeedRows, int WarmUp, int OrderSeed, bool Quick);

/// <summary>The state of a run.</summary>
public enum RunState
{
    /// <summary>It is running, or its process died and could not change this.</summary>
    Running,
    Completed,
    Stopped,
}

/// <summary>The state of a run, with the reason if it was not completed.</summary>
public sealed record RunEnding(RunState State, string? Because)
{
    public static RunEnding Running { get; } = new(RunState.Running, null);

    public static RunEnding Completed { get; } = new(RunState.Completed, null);

    public static RunEnding Stopped(string because) => new(RunState.Stopped, because);

    public override string ToString() => State switch
    {
        RunState.Completed => "completed",
        RunState.Stopped => $"stopped: {Because}",
        RunState.Running => "not ended: the run goes on, or its process died",
        _ => $"{State}",
    };
}

/// <summary>A worker on another machine that took part in a run.</summary>
/// <param name="Number">In the order in which they joined, from 1. A run that is resumed counts from 1 again.</param>
public sealed record WorkerFacts(int Number, HostFacts Host);
