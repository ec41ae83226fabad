using Kit.Endpoints.Cells;
using Kit.Runner.Results;
using Kit.Runner.Servers;

namespace Kit.Runner.Stage.Transports;

/// <summary>The servers that a command uses. Disposing stops and removes the kit's own, the last first.</summary>
internal sealed class ServersInUse : IAsyncDisposable
{
    private readonly Stack<(Transport Transport, ServerInUse Server)> started = new();
    private bool mayBeInMemory;

    /// <summary>All started servers, in the order in which they were started.</summary>
    public IEnumerable<(Transport Transport, ServerInUse Server)> All => started.Reverse();

    /// <summary>The processes of all the kit's own servers.</summary>
    public IReadOnlyList<int> Processes => [.. started.SelectMany(one => one.Server.Processes ?? [])];

    /// <summary>The versions by the title of their transport.</summary>
    public IReadOnlyDictionary<string, string> Versions =>
        All.ToDictionary(one => one.Transport.Title, one => one.Server.Version ?? "unknown");

    /// <summary>Throws if one of the kit's own servers has ended though the command did not stop it: every later failure has that cause.</summary>
    /// <param name="goOn">Words about how the command goes on after that.</param>
    /// <param name="failure">The failure that was seen.</param>
    public void ThrowIfEnded(string goOn, string failure)
    {
        foreach (var (transport, _) in started.Where(one => one.Server.HasEnded))
        {
            throw new KitException(
                $"{transport.Title} has ended: the kit had started {transport.Own} of its own, and did not stop it. After that: {failure}",
                $"See whether memory or disk ran out, or whether something cleared the temporary folder. {goOn}");
        }
    }

    /// <exception cref="InvalidOperationException">It was not started.</exception>
    public ServerInUse this[Transport transport] => started.FirstOrDefault(one => one.Transport == transport).Server
        ?? throw new InvalidOperationException($"The server of {transport.Name} was not started.");

    /// <summary>The server that holds a cell's queue.</summary>
    public ServerInUse Of(Cell cell) => this[Transport.Of(cell)];

    /// <summary>The server that holds a cell's widgets.</summary>
    /// <exception cref="InvalidOperationException">It was not started, or holds none.</exception>
    public DatabaseInUse WidgetsOf(Cell cell) => this[Transport.Of(cell).Widgets] as DatabaseInUse
        ?? throw new InvalidOperationException($"{Transport.Of(cell).Widgets.Title} holds no widgets.");

    /// <summary>The database servers of a cell: that of its widgets, and that of its queue if it is another.</summary>
    /// <inheritdoc cref="WidgetsOf" path="/exception"/>
    public IReadOnlyList<DatabaseInUse> DatabasesOf(Cell cell) =>
        [.. new[] { WidgetsOf(cell), Of(cell) }.OfType<DatabaseInUse>().Distinct()];

    /// <summary>The broker that holds a cell's queue.</summary>
    /// <exception cref="InvalidOperationException">It was not started, or is no RabbitMQ broker.</exception>
    public BrokerInUse BrokerOf(Cell cell) => Of(cell) as BrokerInUse
        ?? throw new InvalidOperationException($"{Transport.Of(cell).Title} is no RabbitMQ broker.");

    /// <summary>Starts the kit's own servers, all or none.</summary>
    /// <param name="arguments">Without them, the servers may keep their files in memory: only their crash is of interest, not their speed.</param>
    /// <exception cref="KitException">One of them does not start.</exception>
    public static async Task<ServersInUse> StartAsync(
        IEnumerable<Transport> transports, CancellationToken cancellationToken, TransportArguments? arguments = null)
    {
        var servers = new ServersInUse();
        try
        {
            foreach (var transport in transports)
                await servers.StartAsync(transport, arguments ?? TransportArguments.None.WithMemory(isAllowed: true), cancellationToken);
            return servers;
        }
        catch
        {
            await servers.DisposeAsync();
            throw;
        }
    }

    /// <inheritdoc cref="Transport.StartAsync"/>
    public async Task<ServerInUse> StartAsync(Transport transport, TransportArguments arguments, CancellationToken cancellationToken)
    {
        var server = await transport.StartAsync(arguments, cancellationToken);
        started.Push((transport, server));
        mayBeInMemory |= arguments.AllowsMemory;
        return server;
    }

    /// <summary>The cost of a flush on the disk of the kit's own servers; <see langword="null"/>: there are none.</summary>
    /// <exception cref="KitException">Their folder can no longer be written.</exception>
    public DiskFacts? MeasureDisk() =>
        started.Any(one => one.Server.Processes is { Count: > 0 }) ? ServerPlace.Choose(mayBeInMemory).MeasureDisk() : null;

    /// <summary>Stops each of them, even if another cannot be stopped.</summary>
    public async ValueTask DisposeAsync()
    {
        if (!started.TryPop(out var last))
            return;
        try
        {
            await last.Server.DisposeAsync();
        }
        finally
        {
            await DisposeAsync();
        }
    }
}
