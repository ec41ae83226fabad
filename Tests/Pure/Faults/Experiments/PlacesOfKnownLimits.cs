using Kit.Endpoints.Cells;
using Kit.Guarantees;

namespace Kit.Tests.Faults.Experiments;

/// <summary>A limit of a place that does not exist would never be printed.</summary>
public sealed class PlacesOfKnownLimits
{
    private static IEnumerable<TestCaseData> Limits =>
        from framework in EndpointKinds.Frameworks
        from limit in framework.Limits
        select new TestCaseData(framework, limit);

    [TestCaseSource(nameof(Limits))]
    public void Are_cells_that_there_are(FrameworkFacts framework, KnownLimit limit) => Assert.That(
        Cell.All.Select(cell => cell.Kind),
        Has.Some.Matches<IEndpointKind>(kind => kind!.Facts == framework && (limit.Transport ?? kind.Transport) == kind.Transport));
}
