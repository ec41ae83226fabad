using Kit.Endpoints.Cells;
using Kit.Guarantees;
using Kit.Modes;
using Kit.Runner.Results;
using Kit.Runner.Servers;
using Kit.Runner.Stage.Databases;

namespace Kit.Runner.Stage.Transports;

/// <summary>
/// A transport, and all that the runner knows about it: its name, the options for its server, the check, start and description of that server, and the
/// injection of faults into its traffic. A new one is a class here and its line in <see cref="All"/>.
/// </summary>
internal abstract class Transport
{
    public static IReadOnlyList<Transport> All { get; } =
    [
        new PostgreSqlTransport(),
        new PostgreSqlApartTransport(),
        new RabbitMqTransport(),
#if KIT_SQLCLIENT
        new SqlServerWithDriver(),
#else
        new SqlServerTransport(),
#endif
        new LearningTransport(),
    ];

    /// <summary>The name in cells.</summary>
    public abstract string Name { get; }

    /// <summary>The server's name, as its maker writes it.</summary>
    public abstract string Title { get; }

    /// <summary>The transport whose server holds the widgets of its cells: itself, if queue and widgets are on one server.</summary>
    public abstract Transport Widgets { get; }

    /// <summary>True if queue and widgets are on one server.</summary>
    public bool HoldsWidgets => Widgets == this;

    /// <summary>The server that the kit starts if none is named, with its article; <see langword="null"/>: none.</summary>
    public virtual string? Own => null;

    /// <summary>The setting that names its server; <see langword="null"/> if it has none.</summary>
    public virtual TransportSetting? Server => null;

    /// <summary>All settings of its server; the one that names it is first.</summary>
    public virtual IReadOnlyList<TransportSetting> Settings => Server is null ? [] : [Server];

    /// <summary>The settings of a run, with any server.</summary>
    public virtual IReadOnlyList<TransportSetting> Choices => [];

    /// <summary>The route of its traffic for the injection of faults; <see langword="null"/>: no faults are injected.</summary>
    public virtual ProxyRoute? ProxyRoute => null;

    /// <summary>The route of a worker on another machine to its server; <see langword="null"/>: there is none.</summary>
    public virtual WorkerRoute? WorkerRoute => null;

    /// <summary>Opens the dead letters of a queue on the user's server; <see langword="null"/>: that is not possible.</summary>
    public virtual ExistingQueue? ExistingQueue => null;

    /// <summary>True if somebody has run its cells; where nobody has, the pages say so.</summary>
    public virtual bool HasBeenRun => true;

    /// <summary>True if its transactions can be promoted to distributed ones.</summary>
    public virtual bool CanPromote => false;

    /// <summary>The clock for the arrival of a message in one of its queues; <see langword="null"/>: none.</summary>
    public virtual ArrivalClock? Arrivals => null;

    /// <summary>Messages that its server pushes to an endpoint before it has acknowledged the last; 0: none.</summary>
    public virtual int Prefetch => 0;

    /// <summary>True if messages are acknowledged to a broker, rather than received in a transaction.</summary>
    public virtual bool IsBroker => false;

    /// <summary>The key of the fact that says whose server it is, in a run's document.</summary>
    protected virtual string WhoseKey => "server";

    /// <exception cref="UnknownTransportException">There is none of that name.</exception>
    public static Transport Named(string name) => All.FirstOrDefault(one => one.Name == name) ?? throw new UnknownTransportException(name);

    /// <inheritdoc cref="Named" path="/exception"/>
    public static Transport Of(Cell cell) => Named(cell.Kind.Transport);

    /// <summary>The transports whose servers are needed, some only for widgets.</summary>
    public static IReadOnlyList<Transport> NeededBy(IEnumerable<Transport> transports)
    {
        var needed = transports.SelectMany(one => new[] { one, one.Widgets }).ToHashSet();
        return [.. All.Where(needed.Contains)];
    }

    /// <summary>Each transport with the support for its cells here, as far as that depends on its server.</summary>
    /// <exception cref="KitException">A server's connection string cannot be read.</exception>
    public static IReadOnlyDictionary<Transport, Support> FindSupport(TransportArguments arguments) =>
        All.ToDictionary(one => one, one => one.SupportHere(arguments));

    /// <summary>True if a cell needs its server, for the queue or for the widgets.</summary>
    public bool Serves(Cell cell) => Of(cell) is var transport && (transport == this || transport.Widgets == this);

    public bool IsNamed(TransportArguments arguments) => Server is not null && arguments[Server] is not null;

    /// <summary>Support for a handler on one of its cells in a mode that the cell supports, or the reason why it lacks something there.</summary>
    /// <param name="needs">The place of the handler's rows, and the time by which they must be visible.</param>
    public virtual Support SupportOf(TransactionMode mode, HandlerNeeds needs) => Support.Yes;

    /// <summary>Support for its cells with these arguments, on a machine that has everything.</summary>
    public virtual Support SupportAnywhere(TransportArguments arguments) => Support.Yes;

    /// <summary>Support for its cells on this machine.</summary>
    /// <exception cref="KitException">The server's connection string cannot be read.</exception>
    public virtual Support SupportHere(TransportArguments arguments) => SupportAnywhere(arguments);

    /// <summary>Asks the named server, before any work.</summary>
    /// <returns>The server's lacks; the cells that need them are left out.</returns>
    /// <exception cref="KitException">It is out of reach, or refuses.</exception>
    public virtual Task<IReadOnlyList<Lack>> CheckAsync(TransportArguments arguments, CancellationToken cancellationToken) =>
        Task.FromResult<IReadOnlyList<Lack>>([]);

    /// <summary>Asks the named server how many connections it accepts, and more.</summary>
    /// <returns><see langword="null"/> if it is no PostgreSQL server.</returns>
    /// <inheritdoc cref="CheckAsync" path="/exception"/>
    public virtual Task<PostgreSqlFacts?> ReadDatabaseAsync(TransportArguments arguments, CancellationToken cancellationToken) =>
        Task.FromResult<PostgreSqlFacts?>(null);

    /// <summary>Uses the named server, or starts the kit's own.</summary>
    /// <exception cref="KitException">The named one cannot be used, or the kit's own does not start.</exception>
    public abstract Task<ServerInUse> StartAsync(TransportArguments arguments, CancellationToken cancellationToken);

    /// <summary>The doctor's findings about it, in the order in which they are shown. A check that cannot be made is a finding.</summary>
    public virtual Task<IReadOnlyList<Finding>> ExamineAsync(TransportArguments arguments, CancellationToken cancellationToken) =>
        Task.FromResult<IReadOnlyList<Finding>>([]);

    /// <summary>
    /// The address of its queues for queries that the runner makes many times a second, if they are in a database; a broker's client keeps its connection
    /// anyway.
    /// </summary>
    public virtual string ForManyUses(string address) => HoldsWidgets ? EndpointConnections.ForManyUses(address) : address;

    /// <summary>Waits until its server has noticed that the process that received from a queue is dead.</summary>
    /// <param name="address">Direct, not through a proxy.</param>
    /// <exception cref="KitException">The queue still has a consumer.</exception>
    public virtual Task WaitForNoConsumerAsync(string address, string queue, CancellationToken cancellationToken) => Task.CompletedTask;

    /// <summary>Lets a queue of the kit's own server refuse every message, until the result is disposed of.</summary>
    /// <param name="address">Direct, not through a proxy.</param>
    /// <param name="table">Its table, if its server is a database.</param>
    /// <exception cref="NotSupportedException">It is not defined how to do it.</exception>
    public virtual Task<IAsyncDisposable> RefuseAsync(string address, string queue, QueueTable table, CancellationToken cancellationToken) =>
        throw new NotSupportedException($"It is not defined how a queue of {Title} refuses messages.");

    /// <summary>Writes its server's facts into a run's document.</summary>
    public virtual RunDocument Describe(RunDocument document, IReadOnlyDictionary<string, string> facts) => DescribeByTitle(document, facts);

    /// <summary>Writes its server's facts among those that have no place of their own.</summary>
    protected RunDocument DescribeByTitle(RunDocument document, IReadOnlyDictionary<string, string> facts) => document with
    {
        Servers = new Dictionary<string, IReadOnlyDictionary<string, string>>(
            document.Servers ?? new Dictionary<string, IReadOnlyDictionary<string, string>>())
        { [Title] = facts },
    };

    /// <summary>Corrects a document to say that the server is the kit's own: a run to which it was named assumes that it is the user's.</summary>
    public RunDocument DescribeAsOwn(RunDocument document) => FactsIn(document) is { } facts && facts.ContainsKey(WhoseKey)
        ? Describe(document, new Dictionary<string, string>(facts) { [WhoseKey] = Whose(isOwn: true) })
        : document;

    /// <summary>The facts that <see cref="Describe"/> has written; <see langword="null"/>: none.</summary>
    protected virtual IReadOnlyDictionary<string, string>? FactsIn(RunDocument document) => FactsByTitle(document);

    /// <summary>The facts that <see cref="DescribeByTitle"/> has written.</summary>
    protected IReadOnlyDictionary<string, string>? FactsByTitle(RunDocument document) => document.Servers?.GetValueOrDefault(Title);

    /// <summary>The first of a server's facts: whose it is.</summary>
    public Dictionary<string, string> FactsOf(ServerInUse server) => new() { [WhoseKey] = Whose(server.IsOwn) };

    protected string Whose(bool isOwn) => $"{Title}, {(isOwn ? "the kit's own, on this machine" : "the user's")}";
}

/// <summary>The clock for the arrival of a message in a queue.</summary>
internal enum ArrivalClock
{
    /// <summary>The commit timestamps of the database that has the queue.</summary>
    CommitTimestamps,

    /// <summary>This machine's clock, when a consumer of the runner receives it.</summary>
    Receipt,
}

/// <summary>
/// A transport has no descriptor. There is no default: it would silently be another transport.
/// </summary>
/// <param name="name">As its cell names it.</param>
internal sealed class UnknownTransportException(string name) : NotSupportedException(
    $"Transport '{name}' has no descriptor. Known: {string.Join(", ", Transport.All.Select(one => one.Name))}. " +
    $"Write one in Runner/Stage/Transports, and add it to {nameof(Transport)}.{nameof(Transport.All)}.");
