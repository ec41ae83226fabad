using Kit.Endpoints.Cells;
using Kit.Guarantees;
using Kit.Modes;
using Kit.Runner.Results.Faults;

namespace Kit.Runner.Faults.Experiments;

/// <summary>What a <c>faults</c> command is to do.</summary>
/// <param name="Cells">The cells that were chosen, runnable or not.</param>
/// <param name="Faults">The single faults; none in a storm.</param>
/// <param name="Storm">The storm; <see langword="null"/> for single faults.</param>
/// <param name="BrokerSupport">Whether the kit can start a broker here.</param>
/// <param name="Speeds">The speeds to show beside; <see langword="null"/> where no run was named.</param>
/// <param name="Folder">Where the results go, or where those are that are to be completed.</param>
/// <param name="CommandLine">As it was typed.</param>
internal sealed record FaultPlan(
    IReadOnlyList<Cell> Cells, IReadOnlyList<Fault> Faults, StormPlan? Storm, Support BrokerSupport, SpeedSource? Speeds, string Folder, string CommandLine)
{
    /// <summary>How long the database server is away under <see cref="Fault.DatabaseAway"/>.</summary>
    public TimeSpan Away { get; init; } = TimeSpan.FromSeconds(20);

    public IReadOnlyList<Cell> Runnable => [.. Cells.Where(cell => SupportOf(cell).IsSupported)];

    /// <summary>Whether faults can be injected into a cell here, or the first reason why not.</summary>
    public Support SupportOf(Cell cell)
    {
        if (!cell.Support.IsSupported)
            return cell.Support;
        if (cell.Kind.Transport is not (TransportName.PostgreSql or TransportName.RabbitMq))
            return Support.No("faults are injected into connections to PostgreSQL and RabbitMQ");

        return NeedsBroker(cell) ? BrokerSupport : Support.Yes;
    }

    public static bool NeedsBroker(Cell cell) => cell.Kind.Transport == TransportName.RabbitMq;
}
