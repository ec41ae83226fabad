namespace Kit.Runner.Results.Loads;

/// <summary>The facts about a live load, and its results so far: <c>load.json</c>.</summary>
public sealed record LoadDocument
{
    public int Schema { get; init; } = ResultJson.Schema;

    /// <summary>The command as typed.</summary>
    public required string CommandLine { get; init; }

    public required DateTimeOffset StartedUtc { get; init; }

    public required GitCommit? Commit { get; init; }

    public required HostFacts Host { get; init; }

    /// <summary>Version by package name.</summary>
    public required IReadOnlyDictionary<string, string> Packages { get; init; }

    /// <summary>Version by server.</summary>
    public IReadOnlyDictionary<string, string> Servers { get; init; } = new Dictionary<string, string>();

    /// <summary>The addresses of the servers that the kit has not started, without passwords; absent: it has started all.</summary>
    public IReadOnlyDictionary<string, string>? Named { get; init; }

    /// <summary>
    /// The <c>synchronous_standby_names</c> of a PostgreSQL server that the kit has not started, whose commits have the moments; absent: no commit waits for a
    /// standby.
    /// </summary>
    public string? Standbys { get; init; }

    /// <summary>The disk of the kit's own servers, before the first load; absent in documents of builds that did not look.</summary>
    public DiskFacts? Disk { get; init; }

    /// <summary>The values that names of cells leave out, by axis; absent if they leave nothing out.</summary>
    public IReadOnlyDictionary<string, string>? Implied { get; init; }

    public required LoadSettings Settings { get; init; }

    /// <summary>The user's service that was loaded; absent for cells.</summary>
    public LoadedServiceFacts? Service { get; init; }

    /// <summary>Cells that cannot run, with the reasons.</summary>
    public IReadOnlyList<CellLeftOut> LeftOut { get; init; } = [];

    /// <summary>The results in the order in which they were made.</summary>
    public IReadOnlyList<LoadResult> Results { get; init; } = [];

    /// <summary>True until every cell has had its loads: also if it was stopped, or if its process died.</summary>
    public bool IsStopped { get; init; }
}

/// <summary>The settings that all cells of a load share.</summary>
/// <param name="Concurrency">Messages that an endpoint handles at the same time; <see langword="null"/>: a user's service decides it.</param>
/// <param name="SeedRows">Rows in the widgets' table before each load; <see langword="null"/>: a user's service has none.</param>
/// <param name="WarmUp">Messages handled before the schedule begins, in the same process.</param>
/// <param name="Senders">The most sends that can be under way at the same time.</param>
/// <param name="LimitMilliseconds">In a search: the highest p99 of the latency that counts as sustained.</param>
public sealed record LoadSettings(double Seconds, int? Concurrency, int? SeedRows, int WarmUp, int Senders, double? LimitMilliseconds)
{
    /// <summary>A user's pause; absent for a rate.</summary>
    public double? ThinkMilliseconds { get; init; }

    /// <summary>The time in which the users begin one after the other, in s; absent for a rate.</summary>
    public double? RampSeconds { get; init; }

    /// <summary>
    /// Time that a user waits for an effect, in s: a message whose effect comes later has failed. Absent for a rate of a cell, and in documents of builds that
    /// counted no such message.
    /// </summary>
    public double? TimeoutSeconds { get; init; }

    /// <summary>
    /// Time that the kit's proxy added to each round trip of a user's service, such as <c>2ms</c>; absent: no proxy was in between.
    /// </summary>
    public string? RoundTrip { get; init; }

    /// <summary>Time at which a reader's snapshot begins, in s from the start of each load; absent: there is none.</summary>
    public double? SnapshotFromSeconds { get; init; }

    /// <summary>Time at which a reader's snapshot ends, in s from the start of each load; absent: there is none.</summary>
    public double? SnapshotToSeconds { get; init; }
}

/// <summary>A user's service under a load.</summary>
/// <param name="ProofFile">The proof file, without its passwords.</param>
/// <param name="Given">The program that was started instead of the one in the file; <see langword="null"/>: none was.</param>
/// <param name="Fingerprint">The fingerprint of the kit's assemblies, as <see cref="BuildFacts.Fingerprint"/>.</param>
public sealed record LoadedServiceFacts(string ProofFile, string? Given, string Fingerprint);
