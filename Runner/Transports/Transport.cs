using Kit.Endpoints.Cells;
using Kit.Guarantees;
using Kit.Modes;
using Kit.Runner.Databases;
using Kit.Runner.Results;
using Kit.Runner.Servers;

namespace Kit.Runner.Transports;

/// <summary>
/// A transport, and all that the runner knows about it: its name, the options for its server, how that server is checked, started and
/// described, and how faults get into its traffic. A new one is a class here and its line in <see cref="All"/>.
/// </summary>
internal abstract class Transport
{
    public static IReadOnlyList<Transport> All { get; } =
    [
        new PostgreSqlTransport(),
        new RabbitMqTransport(),
#if KIT_SQLCLIENT
        new SqlServerWithDriver(),
#else
        new SqlServerTransport(),
#endif
        new LearningTransport(),
    ];

    /// <summary>As cells name it.</summary>
    public abstract string Name { get; }

    /// <summary>As its maker names its server.</summary>
    public abstract string Title { get; }

    /// <summary>The transport whose server holds the widgets of its cells: itself, if queue and widgets are on one server.</summary>
    public abstract Transport Widgets { get; }

    /// <summary>Whether queue and widgets are on one server.</summary>
    public bool HoldsWidgets => Widgets == this;

    /// <summary>What the kit starts if no server is named, with its article; <see langword="null"/>: nothing.</summary>
    public virtual string? Own => null;

    /// <summary>The setting that names its server; <see langword="null"/> if it has none.</summary>
    public virtual TransportSetting? Server => null;

    /// <summary>All settings of its server; the one that names it is first.</summary>
    public virtual IReadOnlyList<TransportSetting> Settings => Server is null ? [] : [Server];

    /// <summary>What can be chosen for a run, with any server.</summary>
    public virtual IReadOnlyList<TransportSetting> Choices => [];

    /// <summary>How faults are injected into its traffic; <see langword="null"/>: none are.</summary>
    public virtual ProxyRoute? ProxyRoute => null;

    /// <summary>How a worker on another machine reaches its server; <see langword="null"/>: none does.</summary>
    public virtual WorkerRoute? WorkerRoute => null;

    /// <summary>Opens the dead letters of a queue on the user's server; <see langword="null"/>: that is not possible.</summary>
    public virtual ExistingQueue? ExistingQueue => null;

    /// <summary>Whether somebody has run its cells; where nobody has, the pages say so.</summary>
    public virtual bool HasBeenRun => true;

    /// <summary>Whether its transactions can be promoted to distributed ones.</summary>
    public virtual bool CanPromote => false;

    /// <summary>What tells when a message has arrived in one of its queues; <see langword="null"/>: nothing does.</summary>
    public virtual ArrivalClock? Arrivals => null;

    /// <summary>Messages that its server pushes to an endpoint before it has acknowledged the last; <see langword="null"/>: none.</summary>
    public virtual int? Prefetch => null;

    /// <summary>Whether messages are acknowledged to a broker, rather than received in a transaction.</summary>
    public bool IsBroker => ProxyRoute?.Acknowledgement is not null;

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

    /// <summary>Whether each transport's cells can run here, as far as that depends on its server.</summary>
    /// <exception cref="KitException">A server's connection string cannot be read.</exception>
    public static IReadOnlyDictionary<Transport, Support> FindSupport(TransportArguments arguments) =>
        All.ToDictionary(one => one, one => one.SupportHere(arguments));

    /// <summary>Whether a cell needs its server, for the queue or for the widgets.</summary>
    public bool Serves(Cell cell) => Of(cell) is var transport && (transport == this || transport.Widgets == this);

    public bool IsNamed(TransportArguments arguments) => Server is not null && arguments[Server] is not null;

    /// <summary>Whether a mode that one of its cells supports gives a handler on that cell what it needs, or why not.</summary>
    /// <param name="mode">The mode.</param>
    /// <param name="needs">What the handler needs: where its rows are, and when they must be visible.</param>
    public virtual Support SupportOf(TransactionMode mode, HandlerNeeds needs) => Support.Yes;

    /// <summary>Whether its cells can run with these arguments, on a machine that has everything.</summary>
    public virtual Support SupportAnywhere(TransportArguments arguments) => Support.Yes;

    /// <summary>Whether they can on this machine.</summary>
    /// <exception cref="KitException">The server's connection string cannot be read.</exception>
    public virtual Support SupportHere(TransportArguments arguments) => SupportAnywhere(arguments);

    /// <summary>Asks the named server, before any work.</summary>
    /// <returns>What it lacks; the cells that need it are left out.</returns>
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
    public abstract Task<RunServer> StartAsync(TransportArguments arguments, CancellationToken cancellationToken);

    /// <summary>What the doctor finds about it, in the order in which it is shown. A check that cannot be made is a finding.</summary>
    public virtual Task<IReadOnlyList<Finding>> ExamineAsync(TransportArguments arguments, CancellationToken cancellationToken) =>
        Task.FromResult<IReadOnlyList<Finding>>([]);

    /// <summary>
    /// The address of its queues for what the runner asks many times a second, if they are in the widgets' server; a broker's client keeps its connection
    /// anyway.
    /// </summary>
    public string ForManyUses(string address) => HoldsWidgets ? EndpointConnections.ForManyUses(address) : address;

    /// <summary>Waits until its server has noticed that the process which received from a queue is dead.</summary>
    /// <param name="address">The transport's address, directly and not through a proxy.</param>
    /// <param name="queue">The queue.</param>
    /// <param name="cancellationToken">Cancels the wait.</param>
    /// <exception cref="KitException">The queue still has a consumer.</exception>
    public virtual Task WaitForNoConsumerAsync(string address, string queue, CancellationToken cancellationToken) => Task.CompletedTask;

    /// <summary>Lets a queue of the kit's own server refuse every message, until the result is disposed of.</summary>
    /// <param name="address">The transport's address, directly and not through a proxy.</param>
    /// <param name="queue">The queue.</param>
    /// <param name="cancellationToken">Ends the attempt.</param>
    /// <exception cref="NotSupportedException">It is not defined how.</exception>
    public virtual Task<IAsyncDisposable> RefuseAsync(string address, string queue, CancellationToken cancellationToken) =>
        throw new NotSupportedException($"It is not defined how a queue of {Title} refuses messages.");

    /// <summary>Writes its server's facts into a run's document.</summary>
    public virtual RunDocument Describe(RunDocument document, IReadOnlyDictionary<string, string> facts) => document with
    {
        Servers = new Dictionary<string, IReadOnlyDictionary<string, string>>(
            document.Servers ?? new Dictionary<string, IReadOnlyDictionary<string, string>>())
        { [Title] = facts },
    };

    /// <summary>Corrects a document to say that the server is the kit's own: a run to which it was named assumes that it is the user's.</summary>
    public RunDocument DescribeAsOwn(RunDocument document) => FactsIn(document) is { } facts && facts.ContainsKey(WhoseKey)
        ? Describe(document, new Dictionary<string, string>(facts) { [WhoseKey] = Whose(isOwn: true) })
        : document;

    /// <summary>What <see cref="Describe"/> has written; <see langword="null"/>: nothing.</summary>
    protected virtual IReadOnlyDictionary<string, string>? FactsIn(RunDocument document) => document.Servers?.GetValueOrDefault(Title);

    /// <summary>The first of a server's facts: whose it is.</summary>
    public Dictionary<string, string> FactsOf(RunServer server) => new() { [WhoseKey] = Whose(server.IsOwn) };

    protected string Whose(bool isOwn) => $"{Title}, {(isOwn ? "the kit's own, on this machine" : "the user's")}";
}
