using Kit.Endpoints.Cells;
using Kit.Guarantees;

namespace Kit.Tests.Faults.Experiments;

/// <summary>A limit of a place that does not exist would never be printed.</summary>
public sealed class PlacesOfKnownLimits
{
    [TestCaseSource(typeof(KnownLimit), nameof(KnownLimit.All))]
    public void Are_cells_that_there_are(KnownLimit limit) => Assert.That(
        Cell.All.Select(cell => cell.Kind),
        Has.Some.Matches<IEndpointKind>(kind => kind!.Framework == limit.Framework && (limit.Transport ?? kind.Transport) == kind.Transport));
}
