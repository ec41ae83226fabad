using Kit.Endpoints.Cells;
using Kit.Guarantees;
using Kit.Modes;
using Kit.Runner.Faults.Injections;
using Kit.Runner.Results.Faults;
using Kit.Tests.Faults.Experiments;

namespace Kit.Tests.Exhaustive.Faults;

/// <summary>
/// Every fault in the modes of the bare endpoints. Each mode meets each fault that has a window in it, and a slow one only in some modes. With
/// <c>KIT_FAULTS=all</c> it meets it on both transports, otherwise on one of them, and the next mode on the other.
/// </summary>
[Parallelizable]
public sealed class OneFaultMeetsAMessage
{
    private static readonly IReadOnlyList<TransactionMode> SlowModes = [TransactionMode.FullDtc, TransactionMode.Outbox];

    private static readonly bool MeetsAll = Environment.GetEnvironmentVariable("KIT_FAULTS") switch
    {
        null => false,
        "all" => true,
        var other => throw new NotSupportedException($"KIT_FAULTS is '{other}'; it can be 'all'."),
    };

    private static readonly IReadOnlyList<(Cell Cell, Fault Fault)> Meetings =
        [.. Fault.All.Index().SelectMany(each => PlacesOf(each.Item, each.Index))];

    private IReadOnlyList<FaultResult> results = [];

    private static IEnumerable<TestCaseData> Places => Meetings.Select(MetFaults.CaseOf);

    [OneTimeSetUp]
    public async Task MakeAllExperiments() => results = await MetFaults.MakeAsync(Meetings);

    [TestCaseSource(nameof(Places))]
    public void The_mode_keeps_its_promise_or_the_reason_is_known(Cell cell, Fault fault) => MetFaults.AssertKept(results, cell, fault);

    /// <summary>For each mode the cells in which the fault has a window, or one of them: the next mode takes the other transport.</summary>
    private static IEnumerable<(Cell Cell, Fault Fault)> PlacesOf(Fault fault, int number) => MetFaults.Cells
        .Where(cell => MetFaults.KindOf(cell, fault) != typeof(NoWindow) && (!MetFaults.IsSlow(fault) || SlowModes.Contains(cell.Mode)))
        .GroupBy(cell => cell.Mode)
        // First those with one transport, so that the others alternate.
        .OrderBy(mode => mode.Count())
        .SelectMany((mode, place) => mode.Where((_, index) => MeetsAll || index == (number + place) % mode.Count()).Select(cell => (cell, fault)));
}
