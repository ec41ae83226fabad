using Kit.Endpoints.Cells;
using Kit.Modes;
using Kit.Runner.Measuring;
using Kit.Runner.Results;
using Kit.Runner.Servers;
using Kit.Runner.Stage;
using Kit.Runner.Stage.Transports;

namespace Kit.Runner.Loads;

/// <summary>The plan of a <c>load</c> command.</summary>
/// <param name="Cells">Runnable or not.</param>
/// <param name="Shapes">One after the other; with <see cref="LimitMilliseconds"/>, the rate with which the search begins.</param>
/// <param name="Length">Duration of the sending.</param>
/// <param name="LimitMilliseconds">Search the highest rate with a p99 of the latency up to this; <see langword="null"/>: one rate.</param>
/// <param name="Concurrency">Messages that the endpoint of a cell that names no number handles at the same time.</param>
/// <param name="SeedRows">Rows in the widgets' table before each load.</param>
/// <param name="WarmUp">Messages handled before the schedule begins.</param>
/// <param name="Senders">The most sends that can be under way at the same time.</param>
/// <param name="CommandLine">As typed.</param>
internal sealed record LoadPlan(
    IReadOnlyList<Cell> Cells, IReadOnlyList<LoadShape> Shapes, TimeSpan Length, double? LimitMilliseconds, int Concurrency, int SeedRows,
    int WarmUp, int Senders, string Folder, string CommandLine)
{
    /// <summary>Beginning and end of a reader's snapshot, from the start of each load; <see langword="null"/>: no snapshot is held.</summary>
    public (TimeSpan From, TimeSpan To)? HeldSnapshot { get; init; }

    /// <summary>With <see cref="LimitMilliseconds"/>: the fractions of the highest rate, 0 to 1, that are loaded after the search.</summary>
    public IReadOnlyList<double> Shares { get; init; } = [];

    /// <summary>True if the processes and servers are sampled while messages are sent.</summary>
    public bool IsSoak => LimitMilliseconds is null && (Length >= Soak || HeldSnapshot is not null);

    private static readonly TimeSpan Soak = TimeSpan.FromMinutes(1);

    // The queue's counts, the watch on commits in one table or two, the samples, and a reader in each of two databases.
    private const int OfTheLoad = 6;

    /// <summary>The kit's own servers, with as many connections as the load needs. A latency contains flushes, so their files are on a disk.</summary>
    public TransportArguments Servers => TransportArguments.None.WithConnections(Runnable.Select(ConnectionsOf).Append(ClusterSettings.Connections).Max());

    /// <summary>Each transport with the support for starting its server here. Commits are timed by the clock of a server on this machine.</summary>
    public IReadOnlyDictionary<Transport, Support> Here { get; init; } = Transport.FindSupport(TransportArguments.None);

    public IReadOnlyList<Cell> Runnable => [.. Cells.Where(cell => SupportOf(cell).IsSupported)];

    /// <summary>Support for a cell here, or the first reason why it cannot run.</summary>
    public Support SupportOf(Cell cell) =>
        !cell.Support.IsSupported ? cell.Support
        : cell.Scenario.Rows == 0 && Transport.Of(cell).Arrivals is null ? Support.No(
            $"the scenario '{cell.Scenario.Name}' inserts no row, and nothing tells when its messages arrive in a queue of '{cell.Kind.Transport}': " +
            "measure it with 'run'")
        : Transport.Of(cell) is { Own: null, Server: not null } named ? Support.No(
            $"a load runs on the kit's own servers, and the kit starts no {named.Title}: measure it with 'run'")
        : Here[Transport.Of(cell)] is { IsSupported: false } notHere ? notHere
        : cell.Limits.SupportOf(cell.Kind, cell.Mode, ConcurrencyOf(cell)) is { IsSupported: false } withFewer ? withFewer
        : ConnectionsOf(cell) > ConnectionNeeds.MostOfOwn ? Support.No(
            $"its load needs up to {Figures.Count(ConnectionsOf(cell))} connections to PostgreSQL, senders included, and the kit starts its own server " +
            $"with at most {Figures.Count(ConnectionNeeds.MostOfOwn)}; name fewer handlers or senders")
        : Support.Yes;

    /// <summary>Messages that the endpoint of a cell handles at the same time.</summary>
    public int ConcurrencyOf(Cell cell) => cell.Limits.Handlers ?? Concurrency;

    private int ConnectionsOf(Cell cell) => (ConnectionNeeds.Of(cell, ConcurrencyOf(cell))?.Total ?? 0) + Senders + OfTheLoad;
}
