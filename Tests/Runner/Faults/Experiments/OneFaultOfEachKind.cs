using Kit.Endpoints.Cells;
using Kit.Guarantees;
using Kit.Runner.Faults.Injections;
using Kit.Runner.Results.Faults;

namespace Kit.Tests.Faults.Experiments;

/// <summary>
/// One fault of each kind of injection, on one of the transports. A kind that watches the wire meets each moment at which rows can commit, whose bytes
/// differ; any other meets one, and the next kind the next. All others are exhaustive tests.
/// </summary>
[Parallelizable]
public sealed class OneFaultOfEachKind
{
    private static readonly IReadOnlyList<(Cell Cell, Fault Fault)> Meetings =
    [
        .. (from fault in Fault.All
            where !MetFaults.IsSlow(fault)
            from cell in MetFaults.Cells
            let kind = MetFaults.KindOf(cell, fault)
            where kind != typeof(NoWindow)
            group (cell, fault) by kind).Index().SelectMany(kind => Of(kind.Item, kind.Index)),
    ];

    private IReadOnlyList<FaultResult> results = [];

    private static IEnumerable<TestCaseData> Places => Meetings.Select(MetFaults.CaseOf);

    [OneTimeSetUp]
    public async Task MakeAllExperiments() => results = await MetFaults.MakeAsync(Meetings);

    [TestCaseSource(nameof(Places))]
    public void The_mode_keeps_its_promise_or_the_reason_is_known(Cell cell, Fault fault) => MetFaults.AssertKept(results, cell, fault);

    private static List<(Cell Cell, Fault Fault)> Of(IGrouping<Type, (Cell Cell, Fault Fault)> kind, int number)
    {
        var moments = kind.GroupBy(meeting => meeting.Cell.Mode.RowCommit).Select(same => same.ElementAt(same.Count() / 2)).ToList();
        return kind.Key == typeof(OnTheWire) ? moments : [moments[number % moments.Count]];
    }
}
