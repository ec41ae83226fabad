using Kit.Endpoints.Cells;
using Kit.Guarantees;
using Kit.Runner.Faults.Injections;
using Kit.Runner.Results.Faults;

namespace Kit.Tests.Faults.Experiments;

/// <summary>
/// One fault of each kind of injection, for each moment at which rows can commit, on one of the transports. All others are exhaustive tests.
/// </summary>
[Parallelizable]
public sealed class OneFaultOfEachKind
{
    private static readonly IReadOnlyList<(Cell Cell, Fault Fault)> Meetings =
    [
        .. from fault in Fault.All
           where !MetFaults.IsSlow(fault)
           from cell in MetFaults.Cells
           let kind = MetFaults.KindOf(cell, fault)
           where kind != typeof(NoWindow)
           group (cell, fault) by (kind, cell.Mode.RowCommit) into same
           select same.ElementAt(same.Count() / 2),
    ];

    private IReadOnlyList<FaultResult> results = [];

    private static IEnumerable<TestCaseData> Places => Meetings.Select(MetFaults.CaseOf);

    [OneTimeSetUp]
    public async Task MakeAllExperiments() => results = await MetFaults.MakeAsync(Meetings);

    [TestCaseSource(nameof(Places))]
    public void The_mode_keeps_its_promise_or_the_reason_is_known(Cell cell, Fault fault) => MetFaults.AssertKept(results, cell, fault);
}
