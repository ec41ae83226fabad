using Kit.Guarantees;
using Kit.Runner.Results.Proofs;
using Kit.Runner.Servers;

namespace Kit.Prove.Files;

/// <summary>A user's description of an application in a proof file.</summary>
internal sealed record ProofFile
{
    public const string Suffix = ".proof.json";

    /// <summary>The path of the file.</summary>
    public required string Path { get; init; }

    /// <summary>The whole text of the file.</summary>
    public required string Text { get; init; }

    /// <summary>Its passwords, which nothing that is shown or stored has.</summary>
    public required Secrets Secrets { get; init; }

    /// <summary>The application's name in tokens.</summary>
    public required string Name { get; init; }

    /// <summary>The databases that the kit creates on its PostgreSQL server.</summary>
    public required IReadOnlyList<string> Databases { get; init; }

    /// <summary>The durable queues that the kit creates on its broker.</summary>
    public required IReadOnlyList<string> Queues { get; init; }

    /// <summary>The statements to execute before the application starts, by database.</summary>
    public required IReadOnlyList<(string Database, string Sql)> Setup { get; init; }

    public required ProgramToStart Start { get; init; }

    /// <summary>The program that is started instead of the one in the file; <see langword="null"/>: none is.</summary>
    public string? Given { get; init; }

    public required WayToSend Send { get; init; }

    /// <summary>The effects of a message, with its dead letters.</summary>
    public required IReadOnlyList<Effect> Effects { get; init; }

    /// <summary>The counts that are 0 when the application has nothing to do.</summary>
    public required IReadOnlyList<IdleCount> Idle { get; init; }

    /// <summary>The steps by which the leases of dead processes become old, as if their time had passed. Empty: the application has none.</summary>
    public IReadOnlyList<LaterStep> Later { get; init; } = [];

    /// <summary>The length of a lease in words, for reports; <see langword="null"/>: the file does not name it.</summary>
    public string? Lease { get; init; }

    /// <summary>The classes that a message may be in after a crash.</summary>
    public required IReadOnlySet<DeliveryClass> Promised { get; init; }

    /// <summary>The most processes of the application at the same time, each with databases and queues of its own.</summary>
    public required int Instances { get; init; }

    /// <summary>True if timelines show which rows were committed together.</summary>
    public bool ReadsCommits { get; init; }

    /// <summary>The file for a look at what is committed together, which needs the log of every database.</summary>
    public ProofFile WithCommits => this with { ReadsCommits = NeedsDatabases };

    /// <summary>The file for a measurement, which times rows by the commits in the database's log.</summary>
    public ProofFile WithTimedRows => this with { ReadsCommits = ReadsCommits || Effects.OfType<RowEffect>().Any() };

    public bool NeedsBroker { get; init; }

    public bool NeedsDatabases => Databases.Count > 0;

    /// <summary>The statements that read effects.</summary>
    public IReadOnlyList<string> Reads => [.. Effects.OfType<RowEffect>().Select(effect => effect.Sql)];

    /// <summary>The statements that count what is left to do.</summary>
    public IReadOnlyList<string> Counts => [.. Idle.OfType<IdleStatement>().Select(idle => idle.Sql)];

    /// <summary>All its SQL.</summary>
    public IReadOnlyList<string> Sql =>
    [
        .. Setup.Select(setup => setup.Sql), .. Reads, .. Counts, .. Later.OfType<LaterStatement>().Select(later => later.Sql),
        .. Send is SendBySql sent ? [sent.Sql] : Array.Empty<string>(),
    ];

    /// <summary>All its programs.</summary>
    public IReadOnlyList<ProgramToStart> Programs =>
    [
        Start, .. Send is SendByCommand(var sender) ? [sender] : Array.Empty<ProgramToStart>(),
        .. Later.OfType<LaterCommand>().Select(later => later.Program),
    ];

    /// <summary>The folder of the file.</summary>
    public string Folder => System.IO.Path.GetDirectoryName(System.IO.Path.GetFullPath(Path))!;
}

/// <summary>A program of the user. Its texts have placeholders.</summary>
/// <param name="Environment">Variables in addition to the kit's.</param>
internal sealed record ProgramToStart(IReadOnlyList<string> Command, string Folder, IReadOnlyDictionary<string, string> Environment)
{
    /// <summary>The files that its command names: the program, a script, a library. A device is none, and has no length.</summary>
    public IEnumerable<string> Files => Command.Index()
        .Select(word => word.Index == 0 && !word.Item.Contains('/', StringComparison.Ordinal)
            ? ExternalProgram.OnSearchPath(word.Item)
            : Path.GetFullPath(Path.Combine(Folder, word.Item)))
        .OfType<string>().Where(path => new FileInfo(path) is { Exists: true, Length: > 0 });
}

/// <summary>The way in which a message gets to the application.</summary>
internal abstract record WayToSend;

/// <summary>A statement, which commits the message to the application's queue.</summary>
internal sealed record SendBySql(string Database, string Sql) : WayToSend;

/// <summary>A message to a queue of the broker.</summary>
internal sealed record SendToQueue(string Queue, string Body, string ContentType, IReadOnlyDictionary<string, string> Headers) : WayToSend;

/// <summary>An HTTP request to the application. Any answer of 200 to 299 means that it has accepted the message, and so do those that are named.</summary>
/// <param name="Body">Empty: none.</param>
/// <param name="Accepted">Other status codes, with which it says that it has the message already.</param>
internal sealed record SendByHttp(string Url, string Method, string Body, string ContentType, IReadOnlyList<int> Accepted) : WayToSend;

/// <summary>A program, which ends with exit code 0 when the message has been sent.</summary>
internal sealed record SendByCommand(ProgramToStart Program) : WayToSend;

/// <summary>Something that the handling of a message leaves behind.</summary>
/// <param name="Name">For reports.</param>
/// <param name="PerMessage">Number of times that it exists if the message was handled once.</param>
/// <param name="IsSent">True if it leaves the application.</param>
/// <param name="Server">The server that has it, as requests name it; <see langword="null"/>: none that the proxy reads.</param>
internal abstract record Effect(string Name, int PerMessage, bool IsSent, string? Server)
{
    /// <inheritdoc cref="FoundEffect.IsDeadLetter"/>
    public bool IsDeadLetter => PerMessage == FoundEffect.NeverThere;
}

/// <summary>A row.</summary>
/// <param name="Sql">Reads it: the first column has the message's id, or a text with the id in it.</param>
internal sealed record RowEffect(string Name, string Database, string Sql, int PerMessage) : Effect(Name, PerMessage, IsSent: false, Database);

/// <summary>A message in a queue of the broker.</summary>
internal sealed record QueueEffect(string Name, string Queue, int PerMessage) : Effect(Name, PerMessage, IsSent: true, Placeholders.Broker);

/// <summary>A call to the kit's endpoint.</summary>
/// <param name="Path">The beginning of its path.</param>
internal sealed record CallEffect(string Name, string Path, int PerMessage) : Effect(Name, PerMessage, IsSent: true, Server: null);

/// <summary>A count that is 0 when the application has nothing to do. Its text names it in messages.</summary>
internal abstract record IdleCount;

/// <summary>The messages in a queue of the broker.</summary>
internal sealed record IdleQueue(string Queue) : IdleCount
{
    public override string ToString() => $"queue '{Queue}'";
}

/// <summary>A number that a statement returns.</summary>
internal sealed record IdleStatement(string Database, string Sql) : IdleCount
{
    public override string ToString() => $"idle statement \"{Sql}\" in database '{Database}'";
}

/// <summary>A step by which leases become old.</summary>
internal abstract record LaterStep;

/// <summary>A program, which ends with exit code 0 when leases are old.</summary>
internal sealed record LaterCommand(ProgramToStart Program) : LaterStep;

/// <summary>A statement by which leases become old.</summary>
internal sealed record LaterStatement(string Database, string Sql) : LaterStep
{
    public override string ToString() => $"the statement of 'later' \"{Sql}\" in database '{Database}'";
}
