using Kit.Endpoints.Cells;
using Kit.Guarantees;
using Kit.Handlers;
using Kit.Modes;

namespace Kit.Runner.Stage;

/// <summary>The scenarios whose own handlers experiments run. A cell of the default scenario runs the experiments' own handler.</summary>
internal static class ScenarioUnderFaults
{
    /// <summary>The faults that are injected into them: kills before the commit and the acknowledgement, and failures of a server or the network.</summary>
    public static IReadOnlyList<Fault> Faults { get; } =
    [
        Fault.KillBeforeCommit, Fault.KillBeforeAcknowledgement, Fault.RestartDatabase, Fault.RestartBroker, Fault.RestartBrokerHalfway,
        Fault.RestartBrokerLate, Fault.DatabaseAway, Fault.NetworkSilent,
    ];

    /// <summary>The scenarios that can be accounted for.</summary>
    public static IReadOnlyList<Scenario> All { get; } = [.. Scenario.All.Where(scenario => SupportOf(scenario).IsSupported)];

    /// <summary>The scenario whose handler runs; <see langword="null"/>: the experiments' own handler does.</summary>
    public static Scenario? Of(Cell cell) => cell.Scenario == Scenario.Insert ? null : cell.Scenario;

    /// <summary>Support for a scenario under faults, or the reason why its messages cannot be accounted for.</summary>
    public static Support SupportOf(Scenario scenario) =>
        scenario == Scenario.Upsert ? Support.No("its row does not name the attempt that inserted it")
        : scenario.Sinks == 0 ? Support.No("it sends nothing, and an experiment recognizes the end of a handling by its message")
        : Support.Yes;
}
