using Kit.Endpoints.Cells;
using Kit.Guarantees;
using Kit.Modes;
using Kit.Runner.Points;
using Kit.Runner.Results.Faults;
using Kit.Runner.Results.Points;
using Kit.Runner.Stage;
using Kit.Runner.Transports;

namespace Kit.Runner.Faults.Experiments;

/// <summary>What a <c>faults</c> command is to do.</summary>
/// <param name="Cells">The chosen cells, runnable or not.</param>
/// <param name="Faults">The single faults; none in a storm.</param>
/// <param name="Storm">The storm; <see langword="null"/> for single faults.</param>
/// <param name="Speeds">The speeds to show next to the guarantees; <see langword="null"/> if no run was named.</param>
/// <param name="Folder">The folder for the results; an existing one is resumed.</param>
/// <param name="CommandLine">As typed.</param>
internal sealed record FaultPlan(
    IReadOnlyList<Cell> Cells, IReadOnlyList<Fault> Faults, StormPlan? Storm, SpeedSource? Speeds, string Folder, string CommandLine)
{
    /// <summary>True if a cell meets one of the single faults.</summary>
    public Func<Cell, Fault, bool> Meets { get; init; } = static (_, _) => true;

    /// <summary>How long the database server is down under <see cref="Fault.DatabaseAway"/>.</summary>
    public TimeSpan Away { get; init; } = TimeSpan.FromSeconds(20);

    /// <summary>Whether the kit can start the server of each transport here: a named server is never made to crash.</summary>
    public IReadOnlyDictionary<Transport, Support> Here { get; init; } = Transport.FindSupport(TransportArguments.None);

    /// <summary>What the experiments' own handler does under single faults.</summary>
    public HandlerShape Shape { get; init; } = HandlerShape.OfExperiments;

    /// <summary>What the handler of a cell does.</summary>
    public HandlerShape ShapeOf(Cell cell) => HandlerShape.Of(cell, Shape);

    /// <summary>The points to meet instead of single faults; <see langword="null"/>: none.</summary>
    public EveryPointPlan? EveryPoint { get; init; }

    public IReadOnlyList<Cell> Runnable => [.. Cells.Where(cell => SupportOf(cell).IsSupported)];

    /// <summary>Whether faults can be injected into a cell here, or the first reason why not.</summary>
    public Support SupportOf(Cell cell) => SupportAnywhere(cell) is { IsSupported: false } refused ? refused : Here[Transport.Of(cell)];

    /// <summary>The same, on a machine that has all servers.</summary>
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

    private static IEnumerable<string> Proxied() => Transport.All.Where(one => one.ProxyRoute is not null).Select(one => one.Title);
}

/// <summary>The points of undisturbed handlings are met instead of single faults.</summary>
/// <param name="Only">Only these experiments, even if the folder has them; all if there is none.</param>
/// <param name="Ways">The ways in which to meet each point; with <paramref name="Only"/>, those of its tokens.</param>
internal sealed record EveryPointPlan(IReadOnlyList<PointToken> Only, IReadOnlyList<PointWay> Ways);
