using Kit.Endpoints.Cells;
using Kit.Guarantees;
using Kit.Modes;
using Kit.Runner.Faults.Points;
using Kit.Runner.Results.Faults;
using Kit.Runner.Results.Points;
using Kit.Runner.Stage;
using Kit.Runner.Stage.Transports;

namespace Kit.Runner.Faults.Experiments;

/// <summary>The plan of a <c>faults</c> command.</summary>
/// <param name="Cells">Runnable or not.</param>
/// <param name="Faults">None in a storm.</param>
/// <param name="Storm"><see langword="null"/> for single faults.</param>
/// <param name="Speeds">Shown next to the guarantees; <see langword="null"/> if no run was named.</param>
/// <param name="Folder">For the results; an existing one is resumed.</param>
/// <param name="CommandLine">As typed.</param>
internal sealed record FaultPlan(
    IReadOnlyList<Cell> Cells, IReadOnlyList<Fault> Faults, StormPlan? Storm, SpeedSource? Speeds, string Folder, string CommandLine)
{
    /// <summary>True if a cell meets one of the single faults.</summary>
    public Func<Cell, Fault, bool> Meets { get; init; } = static (_, _) => true;

    /// <summary>Time for which the database server is down under <see cref="Fault.DatabaseAway"/>.</summary>
    public TimeSpan Away { get; init; } = TimeSpan.FromSeconds(20);

    /// <summary>Each transport with the support for starting its server here: a named server is never made to crash.</summary>
    public IReadOnlyDictionary<Transport, Support> Here { get; init; } = Transport.FindSupport(TransportArguments.None);

    /// <summary>The shape of the experiments' own handler under single faults.</summary>
    public HandlerShape Shape { get; init; } = HandlerShape.OfExperiments;

    /// <summary>The shape of a cell's handler.</summary>
    public HandlerShape ShapeOf(Cell cell) => HandlerShape.Of(cell, Shape);

    /// <summary>The points to meet instead of single faults; <see langword="null"/>: none.</summary>
    public EveryPointPlan? EveryPoint { get; init; }

    public IReadOnlyList<Cell> Runnable => [.. Cells.Where(cell => SupportOf(cell).IsSupported)];

    /// <summary>Support for faults in a cell here, or the first reason why they cannot be injected.</summary>
    public Support SupportOf(Cell cell) => SupportAnywhere(cell) is { IsSupported: false } refused ? refused : Here[Transport.Of(cell)];

    /// <summary>Support for faults in a cell, on a machine that has all servers.</summary>
    public static Support SupportAnywhere(Cell cell)
    {
        if (!cell.Support.IsSupported)
            return cell.Support;
        if (ScenarioUnderFaults.Of(cell) is { } scenario && ScenarioUnderFaults.SupportOf(scenario) is { IsSupported: false } refused)
            return refused;

        var transport = Transport.Of(cell);
        return transport.ProxyRoute is null || transport.Widgets.ProxyRoute is null
            ? Support.No($"faults are injected into connections to {string.Join(" and ", Proxied())}")
            : Support.Yes;
    }

    private static IEnumerable<string> Proxied() =>
        Transport.All.Where(one => one.ProxyRoute is not null).DistinctBy(one => one.ProxyRoute).Select(one => one.Title);
}

/// <summary>The points of undisturbed handlings, in the place of single faults.</summary>
/// <param name="Only">Only these experiments, even if the folder has them; empty: all.</param>
/// <param name="Ways">Ways to meet each point; with <paramref name="Only"/>, those of its tokens.</param>
internal sealed record EveryPointPlan(IReadOnlyList<PointToken> Only, IReadOnlyList<PointWay> Ways);
