using Kit.Endpoints.Cells;
using Kit.Guarantees;
using Kit.Runner.Faults.Injections;
using Kit.Runner.Results.Faults;

namespace Kit.Tests.Faults.Experiments;

/// <summary>
/// The known limits for a message that meets a fault, in the experiments that name them: one that a new version has mended fails here, and must go. What
/// only some messages of a drain show, and what others than the chosen one show, comes now and then, and is not asked for.
/// </summary>
[Exhaustive]
[Parallelizable]
public sealed class LimitsThatAreStillThere
{
    private static readonly IReadOnlyList<(Cell Cell, Fault Fault)> Meetings =
    [
        .. (from framework in EndpointKinds.Frameworks
            from limit in framework.Limits
            where limit is { Fault: not null, Affected: Affected.Chosen }
            from cell in Cell.All.Where(cell => IsOf(cell, framework, limit)).Take(1)
            where Injection.Of(limit.Fault!, cell, Guid.Empty) is not (InADrain or NoWindow)
            select (cell, limit.Fault!)).Distinct(),
    ];

    private IReadOnlyList<FaultResult> results = [];

    private static IEnumerable<TestCaseData> Places => Meetings.Select(MetFaults.CaseOf);

    [OneTimeSetUp]
    public async Task MakeAllExperiments() => results = await MetFaults.MakeAsync(Meetings);

    [TestCaseSource(nameof(Places))]
    public void Are_the_reason_why_the_promise_is_broken(Cell cell, Fault fault)
    {
        MetFaults.AssertKept(results, cell, fault);

        Assert.That(MetFaults.ResultOf(results, cell, fault).Known, Is.Not.Null);
    }

    private static bool IsOf(Cell cell, FrameworkFacts framework, KnownLimit limit) =>
        cell is { Support.IsSupported: true, Access.Name: "ado" } && cell.IsPlain && cell.Kind.Facts == framework
        && TestTransport.MissingServer(cell.Kind.Transport) is null
        && limit.IsOf(cell.Kind.Transport, cell.Mode, limit.Fault, Affected.Chosen, cell.DeadLettersNext);
}
