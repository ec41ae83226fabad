using Kit.Endpoints.Cells;
using Kit.Guarantees;
using Kit.Runner.Results.Faults;

namespace Kit.Tests.Faults.Experiments;

/// <summary>The faults that differ where the queue is on another PostgreSQL server than the rows.</summary>
[Parallelizable]
[Exhaustive]
public sealed class FaultsOnTwoServers
{
    private static readonly IReadOnlyList<(Cell Cell, Fault Fault)> Meetings =
    [
        .. from cell in new[] { In("bare.full-dtc"), In("nservicebus.full-dtc") }
           where cell.Support.IsSupported
           from fault in new[] { Fault.KillAfterPrepare, Fault.KillAfterDecision, Fault.RestartBroker }
           select (cell, fault),
        (In("bare.dtc-off"), Fault.RestartBroker),
    ];

    private IReadOnlyList<FaultResult> results = [];

    private static IEnumerable<TestCaseData> Places => Meetings.Select(MetFaults.CaseOf);

    [OneTimeSetUp]
    public async Task MakeAllExperiments() => results = await MetFaults.MakeAsync(Meetings);

    [TestCaseSource(nameof(Places))]
    public void The_mode_keeps_its_promise(Cell cell, Fault fault) => MetFaults.AssertKept(results, cell, fault);

    private static Cell In(string frameworkAndMode) =>
        Cell.Find($"{frameworkAndMode.Replace(".", $".{TransportName.PostgreSqlApart}.", StringComparison.Ordinal)}.ado")!;
}
